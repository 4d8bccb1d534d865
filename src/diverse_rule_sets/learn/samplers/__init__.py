"""Drawing rule bodies at random; the distribution favours bodies that separate uncovered records of a label.

For a label, let ``D+`` be the uncovered records of that label, ``D-`` the uncovered records of any other, ``Du`` the
covered records of any label. A body r is drawn with probability proportional to ``alpha ** len(r)`` times

- *triples* (Eq. 7): ``|D+(r)| * (|D-| - |D-(r)|) * (|Du| - |Du(r)|)``
- *pairs* (Eq. 8): ``|D+(r)| * (|D-| - |D-(r)| + |Du| - |Du(r)|)``

where ``D(r)`` is the set of records in D that r covers. If D- or Du is empty, its factor or term is left out.
"""

from diverse_rule_sets.learn.samplers._constrained import ConstrainedSampler
from diverse_rule_sets.learn.samplers._parts import MEASURES
from diverse_rule_sets.learn.samplers._rejection import RejectionSampler
from diverse_rule_sets.learn.samplers._sample_rules import SAMPLERS, sample_rules

__all__ = ["MEASURES", "SAMPLERS", "ConstrainedSampler", "RejectionSampler", "sample_rules"]
