"""The program that ``python -m diverse_rule_sets.cli`` runs."""

import sys

from diverse_rule_sets.cli import main

if __name__ == "__main__":
    sys.exit(main())
