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

_TABLE_2_COLUMNS = ("rules", "conditions", "bacc", "auc", "diversity")
_TABLE_2 = {
    "iris": ((8.00, 1.62, 0.87, 0.90, 0.66), (9.00, 2.00, 0.87, 0.90, 0.98), (8.67, 2.02, 0.89, 0.92, 1.00)),
    "contracept": ((3.33, 3.64, 0.36, 0.52, 0.90), (6.33, 4.51, 0.35, 0.51, 0.98), (3.67, 4.02, 0.35, 0.51, 0.99)),
    "cardio": ((21.67, 7.85, 0.50, 0.66, 0.96), (45.67, 8.67, 0.71, 0.78, 1.00), (53.00, 8.99, 0.64, 0.74, 1.00)),
    "anuran": ((31.67, 8.52, 0.50, 0.70, 0.87), (41.33, 8.87, 0.81, 0.88, 1.00), (40.00, 8.99, 0.80, 0.87, 1.00)),
    "avila": ((4.00, 4.72, 0.26, 0.51, 0.59), (3.67, 4.98, 0.26, 0.51, 1.00), (3.67, 5.32, 0.26, 0.51, 1.00)),
}
# Table 2: table -> word for lambda -> column -> figure. The paper writes 0, mean and max for the words.
TABLE_2 = {
    table: {
        word: dict(zip(_TABLE_2_COLUMNS, row, strict=True))
        for word, row in zip(("none", "permissive", "strict"), rows, strict=True)
    }
    for table, rows in _TABLE_2.items()
}

_TABLE_3_COLUMNS = ("rules", "conditions", "bacc", "auc", "diversity", "overlap")
_TABLE_3_MODELS = ("CBA", "CN2", "IDS", "first pass", "full method")
_TABLE_3 = {
    "iris": (
        (7.00, 2.23, 0.90, 0.92, 0.89, 28.67),
        (5.67, 1.22, 0.90, 0.92, 0.88, 115.33),
        (3.00, 1.00, 0.83, 0.88, 1.00, 0.00),
        (10.67, 2.21, 0.93, 0.95, 1.00, 0.00),
        (10.67, 2.12, 0.93, 0.95, 1.00, 3.00),
    ),
    "contracept": (
        (16.67, 3.03, 0.36, 0.52, 0.76, 987.00),
        (72.67, 4.68, 0.38, 0.53, 0.98, 1177.33),
        (12.67, 1.00, 0.32, 0.49, 0.88, 1178.00),
        (15.33, 5.26, 0.37, 0.53, 1.00, 2.00),
        (16.67, 5.20, 0.40, 0.55, 1.00, 5.33),
    ),
    "cardio": (
        (100.00, 4.84, 0.56, 0.68, 0.86, 1424.00),
        (48.00, 3.92, 0.41, 0.56, 0.98, 1695.00),
        (3.00, 1.00, 0.33, 0.50, 0.13, 1377.00),
        (47.00, 9.10, 0.67, 0.75, 1.00, 35.00),
        (48.00, 9.34, 0.71, 0.78, 1.00, 80.67),
    ),
    "anuran": (
        (100.00, 6.08, 0.54, 0.72, 0.73, 3408.00),
        (88.67, 4.15, 0.49, 0.70, 0.98, 5745.67),
        None,
        (38.67, 9.10, 0.78, 0.85, 1.00, 59.33),
        (39.67, 8.50, 0.82, 0.87, 1.00, 149.67),
    ),
    "avila": (
        (1.00, 2.00, 0.25, 0.50, 1.00, 0.00),
        (99.67, 4.06, 0.29, 0.53, 0.98, 13052.33),
        None,
        (3.33, 5.00, 0.26, 0.50, 1.00, 0.00),
        (3.00, 5.42, 0.26, 0.50, 1.00, 0.00),
    ),
}
# Table 3: table -> model -> column -> figure; the paper could not run IDS on anuran and avila.
TABLE_3 = {
    table: {
        model: dict(zip(_TABLE_3_COLUMNS, row, strict=True))
        for model, row in zip(_TABLE_3_MODELS, rows, strict=True)
        if row is not None
    }
    for table, rows in _TABLE_3.items()
}

# How many runs the paper's averages seem to be of: counts end in .33 and .67.
PAPER_RUNS = 3

# The weights of IDS' seven terms and the smallest support in the paper's published program.
IDS_SETTINGS = {
    "iris": {"weights": (1, 1, 1, 1, 10, 1, 1), "min_support": 0.1},
    "contracept": {"weights": (1, 1, 1, 1, 1, 1, 100), "min_support": 0.1},
    "cardio": {"weights": (1, 1, 1, 1, 1, 1, 100), "min_support": 0.5},
}
