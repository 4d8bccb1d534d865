"""The oracle: a slow and simple implementation of every definition. It imports nothing of the package.

A record is a frozenset of items, a body a tuple of items, a rule a pair (body, label).
"""

import datetime
import itertools
import math
from fractions import Fraction


def shortest_number(edge, low, high):
    """Return the multiple nearest to the edge of the largest power of ten that has multiples in [low, high)."""
    for place in range(12, -12, -1):
        unit = Fraction(10) ** place
        near = range(math.floor(Fraction(low) / unit) - 1, math.ceil(Fraction(high) / unit) + 2)
        inside = [k * unit for k in near if low <= float(k * unit) < high]
        if inside:
            return float(min(inside, key=lambda number: abs(number - Fraction(edge))))
    raise ValueError("no power of ten that this oracle tries has a multiple between low and high")


def covers(body, record):
    return set(body) <= record


def cover(body, records):
    return frozenset(i for i, record in enumerate(records) if covers(body, record))


def law(records, y, label, covered, measure, alpha):
    """Return Eq. 7 or Eq. 8 times alpha ** length for every non-empty body, normalised; without bodies of weight 0."""
    plus = [r for r, c, u in zip(records, y, covered, strict=True) if c == label and not u]
    minus = [r for r, c, u in zip(records, y, covered, strict=True) if c != label and not u]
    under = [r for r, u in zip(records, covered, strict=True) if u]
    items = sorted(set().union(*records))
    weights = {}
    for body in (b for size in range(1, len(items) + 1) for b in itertools.combinations(items, size)):
        missed = [sum(not covers(body, r) for r in part) for part in (minus, under)]
        if measure == "pairs":
            others = sum(missed) if minus or under else 1
        else:
            others = (missed[0] if minus else 1) * (missed[1] if under else 1)
        weights[body] = sum(covers(body, r) for r in plus) * others * alpha ** len(body)
    total = sum(weights.values())
    return {body: weight / total for body, weight in weights.items() if weight} if total else {}


def quality(rule, records, y):
    body, label = rule
    inside = [c for record, c in zip(records, y, strict=True) if covers(body, record)]
    if not inside or inside.count(label) * len(y) <= y.count(label) * len(inside):
        return 0.0
    divergence = 0.0
    for c in set(inside):
        p, prior = inside.count(c) / len(inside), y.count(c) / len(y)
        divergence += p * math.log(p / prior)
    return math.sqrt(inside.count(label)) * divergence


def jaccard_distance(a, b):
    return 1 - len(a & b) / len(a | b) if a | b else 0.0


def dispersion(covers_):
    return sum(jaccard_distance(a, b) for a, b in itertools.combinations(covers_, 2))


def objective(rules, records, y, lambda_):
    found = [cover(body, records) for body, _ in rules]
    return sum(quality(rule, records, y) for rule in rules) + lambda_ * dispersion(found)


def greedy(qualities, distance, lambda_, k, standing=()):
    """Non-oblivious greedy over candidates 0..n-1, without stored distances; of equal candidates the first.

    The candidates in ``standing`` are part of the result from the start.
    """
    chosen = list(standing)
    while len(chosen) < min(k, len(qualities)):
        scores = {
            c: qualities[c] / 2 + lambda_ * sum(distance[c][s] for s in chosen)
            for c in range(len(qualities))
            if c not in chosen
        }
        chosen.append(max(scores, key=lambda c: (scores[c], -c)))
    return chosen


def best_value(qualities, distance, lambda_, k):
    """Return the largest objective of any k candidates."""
    return max(
        value(chosen, qualities, distance, lambda_) for chosen in itertools.combinations(range(len(qualities)), k)
    )


def value(chosen, qualities, distance, lambda_):
    return sum(qualities[c] for c in chosen) + lambda_ * sum(
        distance[a][b] for a, b in itertools.combinations(chosen, 2)
    )


def diverse_rule_set(draw, records, y, n_classes, max_rules, min_gain, mode, second_pass, given=()):
    """Algorithm 2. ``draw(label, covered)`` returns candidate bodies; covered is a set of record numbers.

    Given rules are part of the rule set from the start, in the second pass too.
    """
    lambda_ = 0.0
    if mode != "none":
        qualities = [quality((b, c), records, y) for c in range(n_classes) for b in draw(c, frozenset())]
        lambda_ = max(qualities) if mode == "strict" else sum(qualities) / len(qualities)
    chosen, pool, rotation = list(given), [], list(range(n_classes))
    while rotation and len(chosen) < max_rules:
        covered = frozenset().union(*(cover(b, records) for b, _ in chosen))
        drawn = [(c, draw(c, covered)) for c in rotation]
        rotation = [c for c, bodies in drawn if bodies]
        candidates = [(b, c) for c, bodies in drawn for b in bodies]
        if not candidates:
            break
        pool += candidates

        def score(rule, chosen=tuple(chosen)):
            far = sum(jaccard_distance(cover(rule[0], records), cover(b, records)) for b, _ in chosen)
            return quality(rule, records, y) / 2 + lambda_ * far

        best = max(candidates, key=score)
        new = [i for i in cover(best[0], records) - covered if y[i] == best[1]]
        if len(new) / y.count(best[1]) <= min_gain:
            rotation.remove(best[1])
        else:
            chosen.append(best)
    if second_pass and len(chosen) > len(given):
        pool = list(given) + [rule for rule in dict.fromkeys(pool) if rule not in given]
        found = [cover(b, records) for b, _ in pool]
        distance = [[jaccard_distance(a, b) for b in found] for a in found]
        qualities = [quality(rule, records, y) for rule in pool]
        again = greedy(qualities, distance, lambda_, len(chosen), range(len(given)))
        second = [pool[j] for j in again]
        if objective(second, records, y, lambda_) > objective(chosen, records, y, lambda_):
            return second, lambda_
    return chosen, lambda_


def weighted_shares(counts, totals, weights, smoothing):
    """Return the class shares of a rule, smoothed towards those of the whole table and weighted."""
    n = sum(totals)
    mixed = [(c + smoothing * t / n) * w for c, t, w in zip(counts, totals, weights, strict=True)]
    return [m / sum(mixed) for m in mixed]


def refined_quality(counts, totals, weights, smoothing, price, n_conditions):
    """Return (quality, label) of a rule in the default search; weights are scaled to sum to the number of records."""
    n = sum(totals)
    scale = n / sum(t * w for t, w in zip(totals, weights, strict=True))
    weights = [w * scale for w in weights]
    shares = weighted_shares(counts, totals, weights, smoothing)
    label = max(range(len(counts)), key=lambda c: (shares[c], -c))
    divergence = sum(s * math.log(s / (t * w / n)) for s, t, w in zip(shares, totals, weights, strict=True) if s > 0)
    return counts[label] * weights[label] / n * divergence * (1 - price * n_conditions), label


def balanced_weights(totals):
    """Return the balanced weight of a record of each class; a class of few records weighs as one of m records."""
    n, k = Fraction(sum(totals)), len(totals)
    m = min(Fraction(20), n / (10 * k))
    return [float(n / (k * max(total, m))) for total in totals]


def information(totals, weights):
    """Return the factor by which weighted log-likelihoods are scaled down; weights sum to the number of records."""
    n = sum(totals)
    found = 1.0
    for t, w in zip(totals, weights, strict=True):
        if 0 < t < n:  # a record of a rule that covers this class alone gains so much, by weight and by records
            by_weight, by_records = min(w, 1) * -math.log(t * w / n), -math.log(t / n)
            if by_weight * found > 4 * by_records:
                found = 4 * by_records / by_weight
    return found


def evidence(counts, totals, weights):
    """Return the log-likelihood gained by the class shares of a rule, unweighted or weighted, whichever is larger."""
    n, size = sum(totals), sum(counts)
    scale = n / sum(t * w for t, w in zip(totals, weights, strict=True))
    weights = [w * scale for w in weights]
    weight = sum(c * w for c, w in zip(counts, weights, strict=True))
    plain = weighted = 0.0
    for c, t, w in zip(counts, totals, weights, strict=True):
        if c:
            plain += c * math.log(c / size / (t / n))
            weighted += c * min(w, 1) * math.log(c * w / weight / (t * w / n))
    return max(plain, information(totals, weights) * weighted)


def climb(body, items, score):
    """Local search: add the item that improves most; if none does, swap or drop one; until nothing improves.

    A forbidden body scores None.
    """
    body = tuple(sorted(set(body)))
    current = score(body)
    while True:
        longer = [tuple(sorted({*body, i})) for i in items]
        moves = [b for b in longer if score(b) is not None and (current is None or score(b) > current * (1 + 1e-9))]
        if not moves:
            shorter = [tuple(j for j in body if j != i) for i in body]
            moves = [b for b in shorter if b and score(b) is not None and (current is None or score(b) >= current)]
            for b in shorter:
                swapped = [tuple(sorted({*b, i})) for i in items]
                moves += [
                    s for s in swapped if score(s) is not None and (current is None or score(s) > current * (1 + 1e-9))
                ]
        if not moves:
            return body, current
        body = max(moves, key=score)
        current = score(body)


def within_overlap(covers_, n_given, max_overlap):
    """Return whether each cover after the given ones shares at most this part of its records with all before it."""
    for j in range(n_given, len(covers_)):
        shared = covers_[j] & frozenset().union(*covers_[:j])
        if len(shared) > max_overlap * len(covers_[j]):
            return False
    return True


def within_overlap_by_label(rules, n_given, agree, contradict):
    """Return whether each rule after the given ones, a label and a cover, is within both limits on overlap."""
    for j in range(n_given, len(rules)):
        label, cover_ = rules[j]
        same = frozenset().union(*(other for one, other in rules[:j] if one == label))
        others = frozenset().union(*(other for one, other in rules[:j] if one != label))
        if len(cover_ & same) > agree * len(cover_) or len(cover_ & others) > contradict * len(cover_):
            return False
    return True


def likeliest(inside, y, weights, smoothing):
    """Return the class with the largest smoothed, weighted share of some records; the first one if several have it."""
    counts = [sum(y[i] == c for i in inside) for c in range(len(weights))]
    shares = weighted_shares(counts, [y.count(c) for c in range(len(weights))], weights, smoothing)
    return shares.index(max(shares))


def growth_step(rules, given, records, y, columns, weights, smoothing, wider, allowed, max_overlap, rare=()):
    """Return the rules after one step of growth; None if there is no step.

    In a step, an item of a rule or all items of a column are dropped, or an item is replaced by a wider one. The
    records that only then have a rule must be of its label by weight, and the label must stay. ``given`` are the covers
    of rules that come first; the records of rare classes do not count. Steps after which a rule has fewer columns come
    first, then those of larger gains; of equal gains, the first rule and the first body. ``max_overlap`` is a share, or
    a function of the labels of the rules and of all covers.
    """
    found = [*given, *(cover(body, records) for body, _ in rules)]
    uncovered = set(range(len(y))) - set().union(*found)
    scale = len(y) / sum(weights[c] for c in y)
    options = []
    for j, (body, label) in enumerate(rules):
        ways = []
        for item in body:
            ways.append({*body} - {item})
            ways.append({other for other in body if columns[other] != columns[item]})
            ways += [{*body, other} - {item} for other in wider.get(item, ())]
        for grown in (tuple(sorted(way)) for way in ways if way):
            if not allowed(grown, label):
                continue
            inside = cover(grown, records)
            new = inside & uncovered
            counted = [i for i in new if y[i] not in rare]
            gain = sum(scale * weights[y[i]] * (1 if y[i] == label else -1) for i in counted)
            labels = {likeliest(part, y, weights, smoothing) for part in (new, inside)}
            position = len(given) + j
            after = [*found[:position], inside, *found[position + 1 :]]
            if callable(max_overlap):
                fits = max_overlap([label for _, label in rules], after)
            else:
                fits = within_overlap(after, len(given), max_overlap)
            if gain > 1e-9 and labels == {label} and fits:
                shorter = len({columns[item] for item in grown}) - len({columns[item] for item in body})
                options.append((shorter, -round(gain, 9), j, grown))
    if not options:
        return None
    *_, j, grown = min(options)
    return [*rules[:j], (grown, rules[j][1]), *rules[j + 1 :]]


def grow(rules, given, records, y, columns, weights, smoothing, wider, allowed, max_overlap, rare=()):
    """Return the rules after all steps of growth, without items that exclude no record."""
    after = rules
    while after is not None:
        rules = after
        after = growth_step(rules, given, records, y, columns, weights, smoothing, wider, allowed, max_overlap, rare)
    shorter = []
    for body, label in rules:
        for item in body:
            rest = tuple(other for other in body if other != item)
            if rest and allowed(rest, label) and cover(rest, records) == cover(body, records):
                body = rest
        shorter.append((body, label))
    return shorter


def first_that_holds(bodies, record):
    """Return the position of the first body that covers a record; -1 if none does."""
    return next((j for j, body in enumerate(bodies) if covers(body, record)), -1)


def frequent(records, y, enough):
    """Yield every non-empty body that covers enough records, shortest first, then in the order of items."""
    items = sorted(set().union(*records))
    for size in range(1, max(map(len, records)) + 1):
        for body in itertools.combinations(items, size):
            inside = [c for record, c in zip(records, y, strict=True) if covers(body, record)]
            if enough(inside):
                yield body


def cba(records, y, min_support, min_confidence, allowed=lambda body: True):
    """CBA-RG and CBA-CB (M1) as published: the rules, as (body, label), and the default label."""
    n, labels = len(y), sorted(set(y), key=lambda c: (-y.count(c), c))
    rules = []
    bodies = frequent(records, y, lambda inside: any(inside.count(c) >= min_support * n for c in labels))
    for body in filter(allowed, bodies):
        inside = [c for record, c in zip(records, y, strict=True) if covers(body, record)]
        for label in labels:
            support, confidence = inside.count(label), Fraction(inside.count(label), len(inside))
            if support >= min_support * n and confidence >= min_confidence:
                rules.append((body, label, support, confidence))
    rules.sort(key=lambda rule: (-rule[3], -rule[2]))  # stable: of equal rules the one generated earlier comes first
    left, kept, wrong, best = set(range(n)), [], 0, None
    for body, label, _, _ in rules:
        taken = cover(body, records) & left
        if not any(y[i] == label for i in taken):
            continue
        left -= taken
        wrong += sum(y[i] != label for i in taken)
        rest = [y[i] for i in left]
        kept.append((body, label))
        errors = wrong + len(rest) - max(map(rest.count, labels))
        if best is None or errors < best[0]:
            best = errors, len(kept), rest
    _, length, rest = best or (0, 0, y)
    return kept[:length], max(labels, key=(rest or y).count)


def cn2(records, y, label, beam_width, min_covered, longest, like_orange=False):
    """CN2 for one class with the Laplace estimate, as published: the bodies found, in order.

    ``like_orange``: with two properties of Orange 3.40: the beam may contain a body twice, with its conditions in
    another order, and the first body made from each member of the beam cannot become the rule, unless it is the very
    first.
    """
    holds = {item: {i for i, r in enumerate(records) if item in r} for item in sorted(set().union(*records))}
    left, bodies = set(range(len(y))), []

    def counts(inside):
        return [sum(y[i] == c for i in inside) for c in sorted(set(y))]

    def value(inside):
        return Fraction(sum(y[i] == label for i in inside) + 1, len(inside) + 2)

    while sum(y[i] == label for i in left) >= min_covered:
        best, beam = None, [((), left)]
        for _ in range(longest):
            made = []
            for body, inside in beam:
                first = True
                for item in sorted({item for i in inside for item in records[i]} - set(body)):
                    new = inside & holds[item]
                    enough = sum(y[i] == label for i in new) >= min_covered
                    if not enough or (body and counts(new) == counts(inside)):
                        continue
                    made.append(((*body, item), new))
                    passed_over = like_orange and first and best is not None
                    if not passed_over and (best is None or value(new) > value(best[1])):
                        best = made[-1]
                    first = False
            beam = []
            for body, inside in sorted(made, key=lambda pair: -value(pair[1])):
                if like_orange or all(set(body) != set(other) for other, _ in beam):
                    beam.append((body, inside))
            beam = beam[:beam_width]
        if best is None:
            break
        bodies.append(tuple(sorted(best[0])))
        left = left - {i for i in best[1] if y[i] == label}
    return bodies


def ids_terms(chosen, candidates, records, y):
    """Return the seven terms of interpretable decision sets for some of the candidates, pairs (body, label)."""
    n, size, longest = len(y), len(candidates), max(len(body) for body, _ in candidates)
    covered = {rule: cover(rule[0], records) for rule in chosen}
    same = different = 0
    for a, b in itertools.combinations(chosen, 2):
        if a[1] == b[1]:
            same += len(covered[a] & covered[b])
        else:
            different += len(covered[a] & covered[b])
    right = {rule: {i for i in covered[rule] if y[i] == rule[1]} for rule in chosen}
    return [
        size - len(chosen),
        longest * size - sum(len(body) for body, _ in chosen),
        n * size**2 - same,
        n * size**2 - different,
        len({label for _, label in chosen}),
        n * size - sum(len(covered[rule]) - len(right[rule]) for rule in chosen),
        len(set().union(*right.values())),
    ]


def ids_value(chosen, candidates, records, y, weights):
    return sum(w * f for w, f in zip(weights, ids_terms(chosen, candidates, records, y), strict=True))


def ids_local_search(candidates, records, y, weights, epsilon, first=False):
    """Deterministic local search as published: the set of rules chosen. A step is the best, or the first good one."""

    def value(chosen):
        return ids_value(sorted(chosen), candidates, records, y, weights)

    chosen = {max(candidates, key=lambda rule: value({rule}))}
    while True:
        least = value(chosen) * (1 + epsilon / len(candidates) ** 2)
        bigger = [chosen | {rule} for rule in candidates if rule not in chosen]
        smaller = [chosen - {rule} for rule in candidates if rule in chosen]
        good = next(filter(None, ([s for s in sets if value(s) > least] for sets in (bigger, smaller))), [])
        if not good:
            others = set(candidates) - chosen
            return chosen if value(chosen) >= value(others) else others
        chosen = good[0] if first else max(good, key=value)


def is_missing(value):
    """Return whether a value is None, NaN, NaT or NA."""
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "NaN", "sNaN", "NaT", "<NA>"))


def value_type(value):
    """Return the type of a value that is not missing."""
    return _typed(value)[0]


def same_value(one, other):
    """Return whether two values have the same type and are equal; dates are compared to the microsecond, in UTC."""
    if is_missing(one) or is_missing(other):
        return False
    return _typed(one) == _typed(other)


def _typed(value):
    name = type(value).__name__
    if name in ("bool", "bool_"):
        return ("boolean", str(value))
    if isinstance(value, str):
        return ("text", str(value))
    if isinstance(value, bytes):
        return ("bytes", bytes(value))
    if name == "datetime64":
        return ("date", str(value.astype("datetime64[us]")))
    if hasattr(value, "year"):
        moment = value if hasattr(value, "hour") else datetime.datetime(value.year, value.month, value.day)
        zoned = moment.tzinfo is not None
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None) if zoned else moment
        return ("date in UTC" if zoned else "date", moment.strftime("%Y-%m-%dT%H:%M:%S.%f"))
    value = value.item() if hasattr(value, "item") else value
    return ("number", value if value in (math.inf, -math.inf) else Fraction(value))


def points_loss(points, y, weights, squares, ridge=3.0, ridge_constants=0.1):
    """Return the smallest penalised log loss of probabilities proportional to exp(a_k + b * points_k), b >= 0."""
    return points_model(points, y, weights, squares, ridge, ridge_constants)[0]


def points_model(points, y, weights, squares, ridge=3.0, ridge_constants=0.1):
    """Return the smallest penalised log loss of `points_loss`, the constants a_k and the slope b.

    One parameter at a time is changed, by halved steps: slow, but each step lowers the loss.
    """
    n_classes = len(weights)
    largest = max(1, *(value for row in points for value in row))
    rows = {}
    for row, c in zip(points, y, strict=True):
        rows[tuple(row), c] = rows.get((tuple(row), c), 0) + 1

    def loss(a, b):
        total = ridge / 2 * squares * (b / largest) ** 2 + ridge_constants / 2 * sum(value**2 for value in a)
        for (row, c), n in rows.items():
            scores = [a[k] + b * row[k] / largest for k in range(n_classes)]
            top = max(scores)
            total += n * weights[c] * (math.log(sum(math.exp(s - top) for s in scores)) + top - scores[c])
        return total

    a, b = [0.0] * n_classes, 1.0
    best, step = loss(a, b), 1.0
    while step > 1e-5:
        improved = False
        for k in range(n_classes + 1):
            for sign in (step, -step):
                a2, b2 = a.copy(), b
                if k < n_classes:
                    a2[k] += sign
                else:
                    b2 = max(0.0, b + sign)
                value = loss(a2, b2)
                if value < best - 1e-12:
                    a, b, best, improved = a2, b2, value, True
        if not improved:
            step /= 2
    return best, a, b / largest


def sums_of_points(pairs, record, n_classes):
    """Return the points of a record for each class; a pair is (item, class, points)."""
    return [sum(n for item, label, n in pairs if label == k and item in record) for k in range(n_classes)]


def pairs_model(pairs, records, y, weights):
    """Return the loss, the constants and the slope of the model with some pairs (item, class, points)."""
    sums = [sums_of_points(pairs, record, len(weights)) for record in records]
    return points_model(sums, y, weights, sum(n * n for _, _, n in pairs))


def grow_pairs(options, records, y, weights, max_points, size, every):
    """Greedy additions of all pairs and points; return the pairs of each size, from 0 on.

    ``options`` are pairs (item, class). The first pair gets half of the largest points, because only ratios of points
    matter. After ``every`` additions, and after the last one, each pair in turn gives way to the best one.
    """

    def best(pairs):
        free = [option for option in options if option not in {(item, label) for item, label, _ in pairs}]
        points = range(1, max_points + 1) if pairs else [(max_points + 1) // 2]
        found = [(item, label, n) for item, label in free for n in points]
        losses = {pair: pairs_model([*pairs, pair], records, y, weights)[0] for pair in found}
        pair = min(losses, key=losses.get)
        return pair, losses[pair]

    pairs, loss = [], pairs_model([], records, y, weights)[0]
    path = [[]]
    while len(pairs) < size:
        pair, after = best(pairs)
        if after >= loss - 1e-6:
            break
        pairs, loss = [*pairs, pair], after
        if every and len(pairs) > 1 and (len(pairs) % every == 0 or len(pairs) == size):
            for j in range(len(pairs)):
                pair, after = best(pairs[:j] + pairs[j + 1 :])
                if after < loss - 1e-6:
                    pairs, loss = [*pairs[:j], pair, *pairs[j + 1 :]], after
        path.append(pairs)
    return path


def cross_fitted_losses(options, records, y, weights, folds, max_points, size, every):
    """Return the weighted log loss of each record with 0, 1, 2, ... pairs that were found on the other folds."""
    losses = [[0.0] * len(y) for _ in range(size + 1)]
    for fold in set(folds):
        inside = [i for i, own in enumerate(folds) if own != fold]
        some, labels = [records[i] for i in inside], [y[i] for i in inside]
        path = grow_pairs(options, some, labels, weights, max_points, size, every)
        for n in range(size + 1):
            pairs = path[min(n, len(path) - 1)]
            _, a, b = pairs_model(pairs, some, labels, weights)
            for i in (i for i, own in enumerate(folds) if own == fold):
                scores = [a[k] + b * s for k, s in enumerate(sums_of_points(pairs, records[i], len(weights)))]
                share = math.exp(scores[y[i]]) / sum(map(math.exp, scores))
                losses[n][i] = -weights[y[i]] * math.log(share)
    return losses


def signal(losses):
    """Return how much lower than without pairs the lowest sum of losses is, in standard errors of the difference."""
    best = min(range(len(losses)), key=lambda size: (round(sum(losses[size]), 9), size))
    gains = [before - after for before, after in zip(losses[0], losses[best], strict=True)]
    mean = sum(gains) / len(gains)
    deviation = math.sqrt(sum((gain - mean) ** 2 for gain in gains) / len(gains))
    return sum(gains) / max(deviation * math.sqrt(len(gains)), 1e-9)


def smallest_good_size(losses):
    """Return the smallest size whose loss is within half a standard error of the lowest; losses by size and record."""
    n = len(losses[0])
    totals = [math.fsum(row) for row in losses]
    lowest = totals.index(min(totals))
    for size, row in enumerate(losses):
        differences = [one - other for one, other in zip(row, losses[lowest], strict=True)]
        mean = math.fsum(differences) / n
        variance = math.fsum((d - mean) ** 2 for d in differences) / n
        if math.fsum(differences) <= 0.5 * math.sqrt(variance * n) + 1e-9:
            return size
    raise AssertionError("the lowest loss is within half a standard error of itself")


def holds(test, value):
    """Return whether a test (operator, operand) holds for a value; operators are those of the text of rules."""
    operator, operand = test
    if operator == "missing":
        return is_missing(value)
    if is_missing(value):
        return False
    if operator == "in":
        return any(same_value(value, one) for one in operand)
    if operator == "not in":
        return not any(same_value(value, one) for one in operand)
    low, with_low, high, with_high = operand
    above = low is None or value > low or (with_low and value == low)
    return above and (high is None or value < high or (with_high and value == high))


def points(labels, base, signs, record):
    """Return the points of a record by label. A sign is a column, a test of it, and points by label."""
    found = {label: base.get(label, 0) for label in labels}
    for column, test, given in signs:
        if holds(test, record[column]):
            for label, n in given.items():
                found[label] += n
    return found


def leader(labels, found):
    """Return the label with the most points; of equally many, the one listed first."""
    best = labels[0]
    for label in labels[1:]:
        if found[label] > found[best]:
            best = label
    return best


def lead(labels, found):
    """Return by how many points the leader is ahead of every other label."""
    first = leader(labels, found)
    return min(found[first] - found[label] for label in labels if label != first)


def derived(part, label, labels, found):
    """Return the value of a derived column of a record with some points: the points of a label, lead or leader."""
    if part == "leader":
        return leader(labels, found)
    return lead(labels, found) if part == "lead" else found[labels[0] if label is None else label]


def possible_values(named):
    """Return values that tests of a column can tell apart, and None, which is missing.

    ``named`` are the bounds and values in the tests: a value between any two neighbours, one below and one above all of
    them are enough; another text; both booleans.
    """
    if any(isinstance(value, bool) for value in named):
        return [False, True, None]
    if any(isinstance(value, str) for value in named):
        return [*named, "another " + "".join(named), None]
    if not named:
        return ["any text", None]
    step = datetime.timedelta(days=1) if isinstance(named[0], datetime.datetime) else 1
    ordered = sorted(set(named))
    between = [low + (high - low) / 2 for low, high in itertools.pairwise(ordered)]
    return [ordered[0] - step, *ordered, *between, ordered[-1] + step, None]


def possible_records(named):
    """Return records with every combination of :func:`possible_values`; ``named`` is a dict of columns."""
    values = [possible_values(some) for some in named.values()]
    return [dict(zip(named, row, strict=True)) for row in itertools.product(*values)]


def follows_direction(holds_for, values, direction):
    """Return whether a test that holds for a value holds for all values further in a direction; values ascending."""
    values = values if direction == "increasing" else values[::-1]
    outcomes = [holds_for(value) for value in values]
    return all(later or not earlier for i, earlier in enumerate(outcomes) for later in outcomes[i:])


def levels(found, y, classes):
    """Return the number of records of each class for each number of points that occurs, ascending."""
    return {s: [sum(f == s and c == label for f, c in zip(found, y, strict=True)) for label in classes]
            for s in sorted(set(found))}  # fmt: skip


def curve_loss(constant, slope, own_constants, rules, weights, squares):
    """Return the penalised loss of log-odds ``constant + own constant of the rule + slope * (s - mean points)``.

    Also returns its derivatives by the constant, the slope and the own constants.

    A rule is its records and whether it is a band; a record is (points, class, followed class). Weights of classes are
    those of records: together as many as there are records. ``squares`` is the sum of squared points of the signs.
    """
    total = 0.01 * constant**2 / 2 + max(squares, 1) * slope**2 / 2
    derivatives = [0.01 * constant, max(squares, 1) * slope]
    records = [(s, weights[c]) for seen, _ in rules for s, c, _ in seen]
    mean = sum(s * w for s, w in records) / sum(w for _, w in records) if records else 0.0
    for own, (seen, is_band) in zip(own_constants, rules, strict=True):
        ridge = 10.0 if is_band else 0.3
        total += ridge * own**2 / 2
        derivatives.append(ridge * own)
        for s, c, followed in seen:
            score = constant + own + slope * (s - mean)
            total += weights[c] * (math.log1p(math.exp(-abs(score))) + max(score, 0.0) - score * (c == followed))
            excess = weights[c] * (logistic(score) - (c == followed))
            derivatives[0] += excess
            derivatives[1] += excess * (s - mean)
            derivatives[-1] += excess
    return total, derivatives


def weights_of_records(weights, classes):
    """Return class weights scaled so that the records, given by their classes, weigh as much as their number."""
    total = sum(weights[c] for c in classes)
    return [w * len(classes) / total for w in weights] if total else [1.0] * len(weights)


def constant_for(share, slope, seen, weights, mean):
    """Return the constant of the log-odds by which the mean probability of records is ``share``, by halving.

    Without records, the probability is ``share`` at the mean points of the records of all rules.
    """
    if not sum(weights[c] for _, c, _ in seen):
        return log_odds(share) - slope * mean
    low, high = -1e4, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        mean = sum(weights[c] * logistic(middle + slope * s) for s, c, _ in seen) / sum(weights[c] for _, c, _ in seen)
        low, high = (middle, high) if mean < share else (low, middle)
    return low


def log_odds(p):
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))


def logistic(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def probabilities_by_points(shares, followed, own, score):
    """Return the class probabilities of a rule, whose followed label has these log-odds: shares, labels by position.

    The probability of the followed label moves along its log-odds; it stops where the label of the rule would be less
    than 1 % likelier than the next class, if it was the likeliest.
    """
    n = len(shares)
    rest = [shares[c] / sum(shares[d] for d in range(n) if d != followed) if c != followed else 0.0 for c in range(n)]
    p = min(max(logistic(score), 1e-6), 1 - 1e-6)
    if shares[own] == max(shares):
        largest = max(rest)
        if own == followed:
            p = max(p, min(1.01 * largest / (1 + 1.01 * largest), shares[own]))
        else:
            p = min(p, max(largest / (1.01 + largest), shares[followed]))
    return [p if c == followed else rest[c] * (1 - p) for c in range(n)]


def log_likelihood(y, weights):
    """Return the weighted log-likelihood of records under their own class shares; y holds the class of each."""
    sizes = {}
    for c in y:
        sizes[c] = sizes.get(c, 0.0) + weights[c]
    return sum(w * math.log(w / sum(sizes.values())) for w in sizes.values())


def weighted_gain(counts, totals, weights, smoothing, of_rule=None):
    """Return how much smoothed, weighted class shares raise the weighted log-likelihood of some records.

    The shares are those of the records themselves, or of the class counts ``of_rule``.
    """
    n = sum(totals)
    prior = [t / n for t in totals]
    scale = sum(p * w for p, w in zip(prior, weights, strict=True))
    weights = [w / scale for w in weights]
    of_rule = counts if of_rule is None else of_rule
    mixed = [(c + smoothing * p) * w for c, p, w in zip(of_rule, prior, weights, strict=True)]
    gain = 0.0
    for c, m, p, w in zip(counts, mixed, prior, weights, strict=True):
        if c:
            gain += c * w * math.log(m / sum(mixed) / (p * w))
    return gain


def rule_price(n_conditions, n_items, n_classes, n, min_evidence, reading_price=0.002):
    """Return what a rule must be worth: twice the evidence that it needs, and the price of reading it."""
    description = n_conditions * math.log(n_items) + (n_classes - 1) / 2 * math.log(n)
    return 2 * (min_evidence * description / 2) + reading_price * n


def set_value(rules, y, weights, smoothing, price, uncovered_price, given=(), of_rule=False):
    """Return the value of rules, each a set of records and a number of conditions: gains less prices.

    A record counts under the first rule that covers it. The records of given rules do not count. ``of_rule``: the class
    shares of a rule are those of all its records, not of those that count under it.
    """
    classes = range(len(weights))
    totals = [sum(label == k for label in y) for k in classes]
    scale = len(y) / sum(t * w for t, w in zip(totals, weights, strict=True))
    factor = information(totals, [w * scale for w in weights])

    def counts(records):
        return [sum(y[r] == k for r in records) for k in classes]

    left, value = set(range(len(y))).difference(*given), 0.0
    for records, n_conditions in rules:
        whole = counts(records) if of_rule else None
        value += factor * weighted_gain(counts(records & left), totals, weights, smoothing, whole)
        value -= price(n_conditions)
        left -= records
    value += factor * weighted_gain(counts(left), totals, weights, smoothing)
    return value - uncovered_price * len(left)


def type_of_value(value):
    """Return the type by which two values are compared: a boolean is not a number."""
    for name, kinds in (("boolean", bool), ("number", (int, float)), ("text", str), ("bytes", bytes)):
        if isinstance(value, kinds):
            return name
    return "date" if getattr(value, "tzinfo", None) is None else "instant"


def without_codes(values, codes):
    """Return values with None instead of those that are codes for missing values: of the same type and equal."""
    return [
        None if any(type_of_value(value) == type_of_value(code) and value == code for code in codes) else value
        for value in values
    ]


def exceptions(body, records, y, opposites, columns, weights, smoothing, price, min_support, max_conditions):
    """Return for each first condition the best exception of a rule with its rest, as (worth, three bodies).

    The first condition divides the records of the rule, the second one those with the first. Each part has enough
    records and is short enough, and the exception has another label. The second condition is the one with the largest
    gain. ``opposites`` maps an item to the item of the other records.
    """
    classes = range(len(weights))
    totals = [sum(label == k for label in y) for k in classes]
    scale = len(y) / sum(t * w for t, w in zip(totals, weights, strict=True))
    factor = information(totals, [w * scale for w in weights])

    def gain(part):
        inside = cover(part, records)
        return factor * weighted_gain([sum(y[r] == k for r in inside) for k in classes], totals, weights, smoothing)

    def length(part):
        return len({columns[item] for item in part})

    def label(part):
        return likeliest(cover(part, records), y, weights, smoothing)

    found = []
    for first in opposites:
        best = None
        for second in opposites:
            ways = ((first, second), (first, opposites[second]), (opposites[first],))
            parts = tuple(tuple(sorted({*body, *items})) for items in ways)
            if any(len(cover(part, records)) < min_support or length(part) > max_conditions for part in parts):
                continue
            gains = round(sum(map(gain, parts)), 9)
            if label(parts[0]) != label(body) and (best is None or gains > best[0]):
                best = gains, parts
        if best is not None:
            gains, parts = best
            prices = sum(price(length(part)) for part in parts) - price(length(body))
            found.append((gains - gain(body) - prices, parts))
    return found


def weights_in_units(weights, bits=10):
    """Return positive weights as whole numbers of a unit, and the unit: whole numbers as they are, others scaled."""
    exact = [Fraction(weight) for weight in weights]
    if all(weight.denominator == 1 for weight in exact):
        return [int(weight) for weight in exact], Fraction(1)
    scaled = [weight * len(exact) / sum(exact) for weight in exact]
    return [max(round(weight * 2**bits), 1) for weight in scaled], Fraction(1, 2**bits)
