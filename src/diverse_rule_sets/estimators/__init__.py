"""The scikit-learn classifiers."""
