"""The trade-off between accuracy and how much there is to read: :func:`diversity_path`."""

from diverse_rule_sets.path._diversity_path import diversity_path
from diverse_rule_sets.path._path import DiversityPath
from diverse_rule_sets.path._points import PathPoint

__all__ = ["DiversityPath", "PathPoint", "diversity_path"]
