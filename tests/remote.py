"""RemoteBackend without a cluster: messages are pickled, and shards may be lost between messages."""

import pickle

import numpy as np

from diverse_rule_sets.data._remote import RemoteBackend, Shape
from diverse_rule_sets.data._session import Session
from diverse_rule_sets.data._shard import Shard, combine
from diverse_rule_sets.data._sharded import ShardedBackend


def remote_backend(rows, y, n_classes, n_threads=1, given=None, *, weights=None, n_shards=2, lost_every=0):
    """Return a RemoteBackend; with ``lost_every``, one shard begins anew before each so many messages."""
    parts = ShardedBackend.split(rows, y, n_classes, n_threads, given, weights=weights, n_shards=n_shards)._shards
    shards = [Shard(part, k) for k, part in enumerate(parts)]
    n_messages = 0

    def send(message):
        nonlocal n_messages
        n_messages += 1
        if lost_every and n_messages % lost_every == 0:
            k = n_messages // lost_every % n_shards
            shards[k] = pickle.loads(pickle.dumps(shards[k]))
        names = [question.combination for question in message.questions]
        content = pickle.dumps(message)
        answers = [pickle.loads(pickle.dumps(shard.answer(pickle.loads(content)))) for shard in shards]
        middle = n_shards // 2  # combined in two steps, as on many workers
        halves = [combine(names, part) for part in (answers[:middle], answers[middle:]) if part]
        return combine(names, halves)

    n_given = 0 if given is None else len(np.asarray(given))
    unit = 1.0 if weights is None else weights.unit
    return RemoteBackend(Session(send), Shape(len(rows), n_classes, n_given, unit))
