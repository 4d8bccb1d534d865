// The rule that decides the label of a record, and the class probabilities: as RuleSet.predict and predict_proba.

const COMPARE = {
  ">": (value, bound) => value > bound,
  ">=": (value, bound) => value >= bound,
  "<": (value, bound) => value < bound,
  "<=": (value, bound) => value <= bound,
};

// Convert a value of the JSON to the type that conditions compare. Dates are integers in microseconds (BigInt), because
// floating-point numbers would round them.
function readValue(column, cell) {
  if (cell === null || column.kind === "choice") return cell;
  return column.kind === "date" ? BigInt(cell) : Number(cell);
}

// Return a value of a record; null, a missing value, if it is a code for missing values.
function withoutCodes(column, value) {
  return column.codes.some((code) => readValue(column, code) === value) ? null : value;
}

function readModel(model, columns) {
  const all = [...columns, ...model.derived];
  const readCondition = (condition) => {
    const read = (value) => readValue(all[condition.column], value);
    if (condition.tests) return { ...condition, tests: condition.tests.map(([test, bound]) => [test, read(bound)]) };
    return condition.values ? { ...condition, values: condition.values.map(read) } : condition;
  };
  return {
    ...model,
    bodies: model.bodies.map((body) => body.map(readCondition)),
    scorecards: model.scorecards.map((card) => ({
      ...card,
      signs: card.signs.map((sign) => ({ ...sign, condition: readCondition(sign.condition) })),
    })),
    ballots: model.ballots && model.ballots.map((row) => row.map(BigInt)),
  };
}

// Return whether a condition holds for a value. In a column of choices, -1 is a value that is not in the list. In any
// column, null is a missing value.
function holds(condition, value) {
  if (condition.choices) {
    if (value === null) return condition.missing;
    return value < 0 ? condition.other : condition.choices.includes(value);
  }
  if (condition.missing || value === null) return Boolean(condition.missing) && value === null;
  if (condition.tests) return condition.tests.every(([test, bound]) => COMPARE[test](value, bound));
  return condition.values.includes(value) !== condition.not;
}

// Return which signs of a scorecard hold for a record, the points of each label, the label that leads, and its lead. Of
// labels with equally many points the first one leads.
function countPoints(card, record) {
  const signs = card.signs.map(({ condition }) => holds(condition, record[condition.column]));
  const sums = card.base.map((n, k) => card.signs.reduce((sum, { points }, s) => sum + (signs[s] ? points[k] : 0), n));
  const leader = sums.indexOf(Math.max(...sums));
  const lead = sums[leader] - Math.max(...sums.filter((_, k) => k !== leader));
  return { signs, sums, leader, lead };
}

// Return the value of a derived column: the points of a label, the lead, or the position of the label that leads.
function derivedValue(derived, points) {
  const count = points[derived.scorecard];
  return derived.part === "points" ? count.sums[derived.label] : count[derived.part];
}

// Return the class probabilities for a number of points.
function pointProbabilities(table, points) {
  return table.rows[Math.min(Math.max(points - table.low, 0), table.rows.length - 1)];
}

// Return the class with the largest sum of ballots. If sums are equal, the first class in the order of preference wins.
function winningClass(model, covering) {
  let best = null;
  for (const k of model.preference) {
    const sum = covering.reduce((total, j) => total + model.ballots[j][k], 0n);
    if (best === null || sum > best.sum) best = { k, sum };
  }
  return best.k;
}

// Return the class probabilities if the class counts of the covering rules are added up.
function countProbabilities(evidence, covering) {
  const n = evidence.totals.reduce((sum, total) => sum + total, 0);
  const prior = evidence.totals.map((total) => (n > 0 ? total / n : 1 / evidence.totals.length));
  const counts = evidence.totals.map((_, k) => covering.reduce((sum, j) => sum + evidence.counts[j][k], 0));
  const size = counts.reduce((sum, count) => sum + count, 0) + evidence.smoothing;
  const shares = counts.map((count, k) => (size > 0 ? (count + evidence.smoothing * prior[k]) / size : prior[k]));
  if (!evidence.weights) return shares;
  const products = shares.map((share, k) => share * evidence.weights[k]);
  const total = products.reduce((sum, product) => sum + product, 0);
  return products.map((product) => product / total);
}

// Return the first covering rule in the order; if there was a vote, the first one whose label is the winning class.
function firstCovering(model, covers, winner) {
  const first = model.order.find((j) => covers[j] && (winner === null || model.labels[j] === winner));
  return first === undefined ? -1 : first;
}

// Return the result for a record, which is a list of values from readValue. `deciding` is the position of the deciding
// rule among rules and fallback rules, or -1 if there is none. `points` are the results of all scorecards, and `values`
// the values of the record and of the derived columns.
function decide(model, record) {
  const points = model.scorecards.map((card) => countPoints(card, record));
  const values = [...record, ...model.derived.map((derived) => derivedValue(derived, points))];
  const checks = model.bodies.map((body) => body.map((condition) => holds(condition, values[condition.column])));
  const covers = checks.map((body) => body.every(Boolean));
  const covering = covers.flatMap((flag, j) => (flag && j < model.n_rules ? [j] : []));
  const winner = covering.length && model.ballots ? winningClass(model, covering) : null;
  const deciding = covering.length ? firstCovering(model, covers, winner) : covers.indexOf(true, model.n_rules);
  const position = deciding < 0 ? model.bodies.length : deciding; // the default label follows rules and fallback rules
  const evidence = covering.length ? model.count_evidence : null;
  const label = evidence ? winner : model.labels[position];
  const table = deciding < 0 ? null : model.points_tables[deciding];
  let probabilities = model.probabilities[position];
  if (evidence) probabilities = countProbabilities(evidence, covering);
  else if (table) probabilities = pointProbabilities(table, values[table.column]);
  return { points, values, checks, covering, deciding, label, probabilities };
}
