"""What the paper prints: its Tables 1, 2 and 3, and what its published program says of its settings."""

from __future__ import annotations

# Table 1: records, classes, largest class / smallest class, binary features.
TABLE_1 = {
    "iris": (150, 3, 1.00, 20),
    "contracept": (1473, 3, 1.89, 41),
    "cardio": (2126, 3, 9.40, 126),
    "anuran": (7195, 4, 65.00, 132),
    "avila": (16348, 4, 5.15, 60),
}


def _read(text: str) -> dict[str, dict[str, dict[str, float]]]:
    """Read a printed table: table -> what its second column names -> further column -> figure."""
    (_, _, *columns), *rows = (line.split() for line in text.strip().splitlines())
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for table, word, *row in rows:
        figures.setdefault(table, {})[word.replace("_", " ")] = dict(zip(columns, map(float, row), strict=True))
    return figures


# Table 2: table -> word for lambda -> column -> figure. The paper writes 0, mean and max for the words.
TABLE_2 = _read("""
table       lambda      rules  conditions  bacc   auc  diversity
iris        none         8.00        1.62  0.87  0.90       0.66
iris        permissive   9.00        2.00  0.87  0.90       0.98
iris        strict       8.67        2.02  0.89  0.92       1.00
contracept  none         3.33        3.64  0.36  0.52       0.90
contracept  permissive   6.33        4.51  0.35  0.51       0.98
contracept  strict       3.67        4.02  0.35  0.51       0.99
cardio      none        21.67        7.85  0.50  0.66       0.96
cardio      permissive  45.67        8.67  0.71  0.78       1.00
cardio      strict      53.00        8.99  0.64  0.74       1.00
anuran      none        31.67        8.52  0.50  0.70       0.87
anuran      permissive  41.33        8.87  0.81  0.88       1.00
anuran      strict      40.00        8.99  0.80  0.87       1.00
avila       none         4.00        4.72  0.26  0.51       0.59
avila       permissive   3.67        4.98  0.26  0.51       1.00
avila       strict       3.67        5.32  0.26  0.51       1.00
""")

# Table 3: table -> model -> column -> figure; the paper could not run IDS on anuran and avila.
TABLE_3 = _read("""
table       model         rules  conditions  bacc   auc  diversity   overlap
iris        CBA            7.00        2.23  0.90  0.92       0.89     28.67
iris        CN2            5.67        1.22  0.90  0.92       0.88    115.33
iris        IDS            3.00        1.00  0.83  0.88       1.00      0.00
iris        first_pass    10.67        2.21  0.93  0.95       1.00      0.00
iris        full_method   10.67        2.12  0.93  0.95       1.00      3.00
contracept  CBA           16.67        3.03  0.36  0.52       0.76    987.00
contracept  CN2           72.67        4.68  0.38  0.53       0.98   1177.33
contracept  IDS           12.67        1.00  0.32  0.49       0.88   1178.00
contracept  first_pass    15.33        5.26  0.37  0.53       1.00      2.00
contracept  full_method   16.67        5.20  0.40  0.55       1.00      5.33
cardio      CBA          100.00        4.84  0.56  0.68       0.86   1424.00
cardio      CN2           48.00        3.92  0.41  0.56       0.98   1695.00
cardio      IDS            3.00        1.00  0.33  0.50       0.13   1377.00
cardio      first_pass    47.00        9.10  0.67  0.75       1.00     35.00
cardio      full_method   48.00        9.34  0.71  0.78       1.00     80.67
anuran      CBA          100.00        6.08  0.54  0.72       0.73   3408.00
anuran      CN2           88.67        4.15  0.49  0.70       0.98   5745.67
anuran      first_pass    38.67        9.10  0.78  0.85       1.00     59.33
anuran      full_method   39.67        8.50  0.82  0.87       1.00    149.67
avila       CBA            1.00        2.00  0.25  0.50       1.00      0.00
avila       CN2           99.67        4.06  0.29  0.53       0.98  13052.33
avila       first_pass     3.33        5.00  0.26  0.50       1.00      0.00
avila       full_method    3.00        5.42  0.26  0.50       1.00      0.00
""")

# How many runs the paper's averages seem to be of: counts end in .33 and .67.
PAPER_RUNS = 3

# The weights of IDS' seven terms and the smallest support in the paper's published program.
IDS_SETTINGS = {
    "iris": {"weights": (1, 1, 1, 1, 10, 1, 1), "min_support": 0.1},
    "contracept": {"weights": (1, 1, 1, 1, 1, 1, 100), "min_support": 0.1},
    "cardio": {"weights": (1, 1, 1, 1, 1, 1, 100), "min_support": 0.5},
}
