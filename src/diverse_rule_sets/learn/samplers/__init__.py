"""Drawing rule bodies at random, with chances that favour discriminative rules on new ground.

For a label, let ``D+`` be the uncovered records of that label, ``D-`` the uncovered records of any other, ``Du`` the
covered records. A body r is drawn with probability proportional to ``alpha ** len(r)`` times

- *triples* (Eq. 7): ``|D+(r)| * (|D-| - |D-(r)|) * (|Du| - |Du(r)|)``
- *pairs* (Eq. 8): ``|D+(r)| * (|D-| - |D-(r)| + |Du| - |Du(r)|)``

where ``D(r)`` is the part of D that r covers; a part that is empty to begin with is left out of the product.
"""

from diverse_rule_sets.learn.samplers._constrained import ConstrainedSampler
from diverse_rule_sets.learn.samplers._parts import MEASURES
from diverse_rule_sets.learn.samplers._rejection import RejectionSampler
from diverse_rule_sets.learn.samplers._sample_rules import SAMPLERS, sample_rules

__all__ = ["MEASURES", "SAMPLERS", "ConstrainedSampler", "RejectionSampler", "sample_rules"]
