// Who speaks for a record, and with which probabilities: the same answers as RuleSet.predict and predict_proba.

const COMPARE = {
  ">": (value, bound) => value > bound,
  ">=": (value, bound) => value >= bound,
  "<": (value, bound) => value < bound,
  "<=": (value, bound) => value <= bound,
};

// A value as conditions compare it: dates are whole microseconds, which floating point would round.
function readValue(column, cell) {
  if (cell === null || column.kind === "choice") return cell;
  return column.kind === "date" ? BigInt(cell) : Number(cell);
}

function readModel(model, columns) {
  const read = (condition) => {
    if (!condition.tests) return condition;
    const tests = condition.tests.map(([test, bound]) => [test, readValue(columns[condition.column], bound)]);
    return { ...condition, tests };
  };
  return {
    ...model,
    bodies: model.bodies.map((body) => body.map(read)),
    ballots: model.ballots && model.ballots.map((row) => row.map(BigInt)),
  };
}

// Of choices, -1 is a value never seen before; null is a missing value of any column.
function holds(condition, value) {
  if (condition.choices) {
    if (value === null) return condition.missing;
    return value < 0 ? condition.other : condition.choices.includes(value);
  }
  if (condition.missing || value === null) return Boolean(condition.missing) && value === null;
  if (condition.tests) return condition.tests.every(([test, bound]) => COMPARE[test](value, bound));
  return condition.values.includes(value) !== condition.not;
}

// The class with the largest sum of ballots; of equals the first in the order of preference.
function winner(model, fired) {
  let best = null;
  for (const k of model.preference) {
    const sum = fired.reduce((total, j) => total + model.ballots[j][k], 0n);
    if (best === null || sum > best.sum) best = { k, sum };
  }
  return best.k;
}

function addedShares(added, fired) {
  const n = added.totals.reduce((sum, total) => sum + total, 0);
  const prior = added.totals.map((total) => total / Math.max(n, 1));
  const counts = added.totals.map((_, k) => fired.reduce((sum, j) => sum + added.counts[j][k], 0));
  const covered = counts.reduce((sum, count) => sum + count, 0) + added.smoothing;
  const shares = counts.map((count, k) => (covered > 0 ? (count + added.smoothing * prior[k]) / covered : prior[k]));
  if (!added.weights) return shares;
  const weighted = shares.map((share, k) => share * added.weights[k]);
  const whole = weighted.reduce((sum, share) => sum + share, 0);
  return weighted.map((share) => share / whole);
}

// The first covering rule in the order, among those that name the class that won if there was a count.
function asked(model, covers, said) {
  const found = model.order.find((j) => covers[j] && (said === null || model.labels[j] === said));
  return found === undefined ? -1 : found;
}

// The answer for a record, a list of values as readValue returns them. A speaker is a position in rules and fallbacks,
// -1 if none speaks.
function decide(model, record) {
  const checks = model.bodies.map((body) => body.map((condition) => holds(condition, record[condition.column])));
  const covers = checks.map((body) => body.every(Boolean));
  const fired = covers.flatMap((covered, j) => (covered && j < model.n_rules ? [j] : []));
  const said = fired.length && model.ballots ? winner(model, fired) : null;
  const speaker = fired.length ? asked(model, covers, said) : covers.indexOf(true, model.n_rules);
  const place = speaker < 0 ? model.bodies.length : speaker; // the default stands after rules and fallbacks
  const added = fired.length ? model.added : null;
  const answer = added ? said : model.labels[place];
  const probabilities = added ? addedShares(added, fired) : model.probabilities[place];
  return { checks, fired, speaker, answer, probabilities };
}
