"""Each rule fitted again with the others in place: local search from its body, over the records that others leave."""

from __future__ import annotations

from collections.abc import Iterator

from diverse_rule_sets.data._backend import Body
from diverse_rule_sets.learn._selection import REFITTING
from diverse_rule_sets.learn._set_search import Change, RuleSetSearch


class Refits:
    """Fits rules again; the result for a rule depends on its body and on what the others cover, and is found once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Body, int], list[Body]] = {}

    def changes(self, rules: RuleSetSearch) -> Iterator[Change]:
        """Yield the changes that replace a rule by what local search from its body, or a part of it, finds."""
        for j, body in enumerate(rules.bodies):
            covered = rules.others((j,))
            key = body, rules.backend.fingerprint(covered.records)
            if key not in self._known:
                rules.search.set_covered(covered, [other for k, other in enumerate(rules.bodies) if k != j])
                shorter = (body[:k] + body[k + 1 :] for k in range(len(body)))
                starts = [body, *filter(rules.search.constraints.has_required, shorter)]
                found = dict.fromkeys(candidate.body for candidate in rules.search.improve(starts))
                self._known[key] = [new for new in found if new != body]
            for new in self._known[key]:
                yield Change((j,), (new,), REFITTING)
