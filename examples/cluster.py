"""A fit on a Dask cluster of two workers on this machine: the same rules as in memory."""

import dask.dataframe as dd
from distributed import Client, LocalCluster
from sklearn.datasets import load_breast_cancer

from diverse_rule_sets import DiverseRuleSetClassifier


def main() -> None:
    """Fit the same table in memory and on the cluster."""
    table = load_breast_cancer(as_frame=True)
    frame = table.data.assign(diagnosis=table.target_names[table.target])
    local = DiverseRuleSetClassifier(random_state=0, scorecards=None).fit(frame, "diagnosis")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        partitions = dd.from_pandas(frame, npartitions=4)
        clf = DiverseRuleSetClassifier(random_state=0, scorecards=None).fit(partitions, "diagnosis")
        print(clf.rule_set_)
        print("the same rules as in memory:", clf.rule_set_.to_json() == local.rule_set_.to_json())
        print(clf.predict(partitions).head(3))


if __name__ == "__main__":
    main()
