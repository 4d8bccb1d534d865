"""Who answers questions about the data.

The learner never touches records. It asks a backend a few questions, all answered in integers that add over
shards of records: *how many records of each class do these bodies cover* (:meth:`~LocalBackend.class_counts_of`),
*how many under these covers* (:meth:`~LocalBackend.shared`), *how many of each class where an item is added to these
bodies* (:meth:`~LocalBackend.extended`), *which records does this body cover*
(:meth:`~LocalBackend.cover`), *which items hold for these records* (:meth:`~LocalBackend.items_of`), *do these bodies
cover these records* (:meth:`~LocalBackend.contained`).
"""

from diverse_rule_sets.backends._local import LocalBackend

__all__ = ["LocalBackend"]
