// Figures of trials with intervals, and changes between two of them: the same as `tailrace.statistics`, which explains them.
"use strict";
const statistics = (() => {
  const LEVEL = 0.9, TAIL = 0.8, BEYOND_MIN = 200, VALUES_MIN = 3, PLAIN_MAX = 90, LONGEST_FACTOR = 2, LOG_MAX = 700, FOLLOWED_MIN = 0.1, TOLERANCE = 1e-12;
  const SIGNIFICANCE = 0.05, ARRANGEMENTS_MAX = 50000, HALVINGS = 24, CLOSE = 1e-9, RESOLUTION = 2 ** -10;
  const LOOKS = [6, 8, 12]; // numbers of trials after which a change is judged
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const mean = (values) => sum(values) / values.length;
  const squares = (values, centre) => sum(values.map((value) => (value - centre) ** 2));
  const meanError = (values) => Math.sqrt(squares(values, mean(values)) / (values.length - 1) / values.length);
  const jackknifeError = (left) => Math.sqrt((squares(left, mean(left)) * (left.length - 1)) / left.length);
  const sectioningError = (own, centre) => Math.sqrt(squares(own, centre) / (own.length - 1) / own.length);
  const tRatio = (value, error) => (error > 0 ? value / error : value ? Math.sign(value) * Infinity : 0);
  const bisectRight = (sorted, value) => { let low = 0, high = sorted.length; while (low < high) { const at = (low + high) >> 1; if (sorted[at] <= value) low = at + 1; else high = at; } return low; };
  const bisectLeft = (sorted, value) => { let low = 0, high = sorted.length; while (low < high) { const at = (low + high) >> 1; if (sorted[at] < value) low = at + 1; else high = at; } return low; };
  const running = (values) => { let total = 0; return values.map((value) => (total += value)); };

  // Student's distribution.
  const logGamma = (x) => { // Lanczos approximation
    const c = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2, -0.5395239384953e-5];
    const tmp = x + 5.5 - (x + 0.5) * Math.log(x + 5.5);
    return -tmp + Math.log((2.5066282746310005 * c.reduce((total, one, at) => total + one / (x + 1 + at), 1.000000000190015)) / x);
  };
  const incompleteBeta = (x, a, b) => {
    if (x === 0 || x === 1) return x;
    if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
    const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a;
    let value = 1, up = 1, down = 0;
    for (let step = 1; step < 1000; step++) {
      const m = Math.floor(step / 2);
      const part = step % 2 ? (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)) : (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      down = 1 / (1 + part * down || 1e-300);
      up = 1 + part / up || 1e-300;
      value *= up * down;
      if (Math.abs(up * down - 1) < 1e-15) break;
    }
    return front / value;
  };
  const pStudent = (t, freedom) => (Number.isFinite(t) ? incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5) : 0);
  const quantiles = new Map();
  const quantile = (freedom, level = LEVEL) => {
    const key = `${freedom} ${level}`, outside = TAIL * (1 - level);
    if (!quantiles.has(key)) {
      let low = 0, high = 1;
      while (pStudent(high, freedom) > outside) high *= 2;
      for (let at = 0; at < 60; at++) { const middle = (low + high) / 2; if (pStudent(middle, freedom) > outside) low = middle; else high = middle; }
      quantiles.set(key, high);
    }
    return quantiles.get(key);
  };

  // Latencies of one trial, or of several together; those that the end of a trial censored are lower bounds.
  const counted = (lists) => { const found = new Map(); for (const list of lists) for (const [edge, count] of list) found.set(edge, (found.get(edge) || 0) + count); return [...found].sort((one, other) => one[0] - other[0]); };
  const made = (ended, cuts, min, max, longestCut) => {
    const one = { ended, cuts, edges: ended.map((pair) => pair[0]), cumulative: running(ended.map((pair) => pair[1])), min, max };
    one.count = one.cumulative.length ? one.cumulative.at(-1) : 0;
    one.values = one.count + sum(cuts.map((pair) => pair[1]));
    one.longest = Math.max(max, longestCut);
    [one.shares, one.followed] = cuts.length ? shares(one) : [one.cumulative.map((n) => n / one.count), []];
    return one;
  };
  // Kaplan and Meier: what ended at each edge, of those that had been observed for so long.
  const shares = ({ ended, cuts, values }) => {
    let left = values, at = 0, alive = 1;
    const found = [], followed = [];
    for (const [edge, count] of ended) {
      while (at < cuts.length && cuts[at][0] < edge) left -= cuts[at++][1];
      followed.push(alive > 0 ? left / values / alive : 0);
      alive *= 1 - count / left;
      left -= count;
      found.push(1 - alive);
    }
    return [found, followed];
  };
  const histogram = (workload) => {
    const latency = workload.latency && workload.latency.count > 0 ? workload.latency : null, cut = workload.cut_off && workload.cut_off.count > 0 ? workload.cut_off : null;
    if (!latency && !cut) return null;
    return made(counted(latency ? [latency.buckets] : []), counted(cut ? [cut.buckets] : []), latency ? latency.min_ps : 0, latency ? latency.max_ps : 0, cut ? cut.longest_ps : 0);
  };
  const together = (trials) => made(counted(trials.map((one) => one.ended)), counted(trials.map((one) => one.cuts)), trials.reduce((least, one) => (one.count ? Math.min(least, one.min) : least), Infinity), Math.max(...trials.map((one) => one.max)), Math.max(...trials.map((one) => one.longest)));
  const endedBy = (one, latency) => { const at = bisectRight(one.edges, latency); return at ? one.cumulative[at - 1] : 0; };
  const surviving = (one, latency) => { if (!one.cuts.length) return 1 - endedBy(one, latency) / one.count; const at = bisectRight(one.edges, latency); return at ? 1 - one.shares[at - 1] : 1; };
  const rankOf = (percent, count) => Math.max(1, Math.ceil(Number(((percent / 100) * count).toFixed(9))));
  const positionOf = (one, percent) => {
    const rank = rankOf(percent, one.count);
    let low = 0, high = one.edges.length;
    while (low < high) { const at = (low + high) >> 1; if (one.cuts.length ? one.shares[at] >= percent / 100 - TOLERANCE : one.cumulative[at] >= rank) high = at; else low = at + 1; }
    return low;
  };
  const percentileOf = (one, percent) => { const at = positionOf(one, percent); return at < one.edges.length ? Math.min(one.edges[at], one.max) : null; };
  // The percentile in picoseconds, or what it exceeds.
  const estimate = (one, percent) => { const found = percentileOf(one, percent); return { ps: found ?? one.longest, isBound: found === null || (one.followed.length > 0 && one.followed[positionOf(one, percent)] < FOLLOWED_MIN) }; };
  // All trials of an arm that have latencies: each, and together.
  const latencies = (workloads) => {
    const trials = workloads.map(histogram).filter(Boolean);
    return trials.length ? joined(trials) : null;
  };
  const joined = (trials) => {
    const pooled = together(trials);
    const tails = trials.map((trial) => ({ trial, cuts: trial.cuts.map((pair) => pair[0]), counts: [0, ...running(trial.cuts.map((pair) => pair[1]))], chances: [0, ...running(trial.cuts.map(([cut, count]) => count / surviving(pooled, cut)))] }));
    return { trials, pooled, tails };
  };
  const scores = ({ pooled, tails }, latency, percent) => {
    const alive = surviving(pooled, latency);
    return tails.map(({ trial, cuts, counts, chances }) => {
      const before = bisectLeft(cuts, latency);
      return trial.count - endedBy(trial, latency) + counts.at(-1) - counts[before] + alive * chances[before] - (1 - percent / 100) * trial.values;
    });
  };
  const without = ({ trials }, percent) => trials.map((_, at) => percentileOf(together(trials.filter((_one, other) => other !== at)), percent));
  const logs = (values) => (values.every(Boolean) ? values.map(Math.log) : null);

  // How many trials of this length an interval takes; 0 where there are enough.
  const trialsNeeded = ({ trials, pooled }, percent) => {
    const beyond = Number((pooled.values * (1 - percent / 100)).toFixed(6));
    if (percent <= 50 || beyond >= BEYOND_MIN) return trials.length < VALUES_MIN ? VALUES_MIN : 0;
    return Math.max(VALUES_MIN, Math.ceil((BEYOND_MIN * trials.length) / beyond));
  };
  const percentileError = (found, percent) => {
    const centre = logs([percentileOf(found.pooled, percent)]), own = logs(found.trials.map((one) => percentileOf(one, percent))), left = logs(without(found, percent));
    return centre && own && left ? Math.max(jackknifeError(left), sectioningError(own, centre[0])) : null;
  };
  // The interval of a percentile in picoseconds; null where there is none.
  const percentileInterval = (found, percent, level = LEVEL) => {
    const { pooled, trials } = found, { ps, isBound } = estimate(pooled, percent);
    if (trialsNeeded(found, percent) || isBound) return null;
    const most = quantile(trials.length - 1, level), tAt = (at) => { const own = scores(found, pooled.edges[at], percent); return tRatio(mean(own), meanError(own)); };
    let low = -1, high = positionOf(pooled, percent);
    while (high - low > 1) { const at = (low + high) >> 1; if (tAt(at) > most) low = at; else high = at; }
    let first = low >= 0 ? pooled.edges[low] : pooled.min;
    low = positionOf(pooled, percent) - 1; high = pooled.edges.length;
    while (high - low > 1) { const at = (low + high) >> 1; if (tAt(at) < -most) high = at; else low = at; }
    let last = high < pooled.edges.length ? pooled.edges[high] : pooled.longest;
    if (percent > PLAIN_MAX) {
      const error = percentileError(found, percent);
      if (error === null) return null;
      const reach = Math.exp(Math.min(most * error, LOG_MAX));
      first = Math.min(first, ps / reach);
      last = Math.max(last, Math.min(ps * reach, LONGEST_FACTOR * pooled.longest));
    }
    return { low: first, high: last };
  };
  // The interval of a positive mean.
  const logInterval = (values, level = LEVEL) => {
    if (values.length < VALUES_MIN || !(mean(values) > 0)) return null;
    const reach = Math.exp(Math.min(LOG_MAX, (quantile(values.length - 1, level) * meanError(values)) / mean(values)));
    return { low: mean(values) / reach, high: mean(values) * reach };
  };

  // Changes. Trials at one place have the same seed: they are pairs.
  const NOTHING = { ratio: null, interval: null, p: 1 };
  const logChange = (centre, error, freedom) => ({ ratio: Math.exp(centre), interval: { low: Math.exp(centre - quantile(freedom) * error), high: Math.exp(centre + quantile(freedom) * error) }, p: pStudent(tRatio(centre, error), freedom) });
  const meanChange = (first, second) => {
    if (!first.length || !(mean(first) > 0) || !(mean(second) > 0)) return NOTHING;
    const centre = Math.log(mean(second) / mean(first));
    if (first.length < VALUES_MIN) return { ratio: Math.exp(centre), interval: null, p: 1 };
    return logChange(centre, meanError(first.map((value, at) => second[at] / mean(second) - value / mean(first))), first.length - 1);
  };
  // The percentile of the first latencies and the second ones over a ratio together; null where it is unknown.
  const commonPercentile = (first, second, percent, ratio) => {
    const most = (first.pooled.values + second.pooled.values) * (1 - percent / 100) + CLOSE;
    const isReached = (latency) => first.pooled.values * surviving(first.pooled, latency) + second.pooled.values * surviving(second.pooled, latency * ratio) <= most;
    let low = 0, high = Math.max(first.pooled.longest, second.pooled.longest / ratio) * (1 + CLOSE);
    if (!isReached(high)) return null;
    while (high - low > CLOSE * high) { const middle = (low + high) / 2; if (isReached(middle)) high = middle; else low = middle; }
    return high;
  };
  const tOfShares = (first, second, percent, ratio) => {
    const at = commonPercentile(first, second, percent, ratio);
    if (at === null || first.trials.length < VALUES_MIN) return null;
    const [a, b] = [[first, at], [second, at * ratio]].map(([own, latency]) => scores(own, latency, percent).map((score) => (score * own.trials.length) / own.pooled.values));
    const differences = b.map((value, place) => value - a[place]);
    return tRatio(mean(differences), meanError(differences));
  };
  const pOfShares = (first, second, percent) => {
    const t = tOfShares(first, second, percent, 1);
    return t === null ? 1 : pStudent(t, first.trials.length - 1);
  };
  // Of too few transactions for an interval: of the logarithms of the trials' own percentiles, lower bounds as they are.
  const pOfTrials = (first, second, percent) => {
    const each = [first, second].map((one) => logs(one.trials.map((trial) => estimate(trial, percent).ps)));
    if (!each[0] || !each[1]) return pOfShares(first, second, percent);
    const differences = each[1].map((value, at) => value - each[0][at]);
    return differences.length < VALUES_MIN ? 1 : pStudent(tRatio(mean(differences), meanError(differences)), differences.length - 1);
  };
  const hasIntervals = (first, second, percent) => Boolean(percentileInterval(first, percent) && percentileInterval(second, percent));
  // Equal percentiles are no difference, whatever the shares beyond them.
  const percentileChange = (first, second, percent) => {
    const found = changeOfPercentile(first, second, percent);
    return found.ratio !== null && Math.abs(Math.log(found.ratio)) <= RESOLUTION ? { ...found, p: 1 } : found;
  };
  const changeOfPercentile = (first, second, percent) => {
    const from = estimate(first.pooled, percent).ps, to = estimate(second.pooled, percent).ps, freedom = first.trials.length - 1;
    const own = [percentileInterval(first, percent), percentileInterval(second, percent)];
    if (!own[0] || !own[1]) return { ratio: from > 0 ? to / from : null, interval: null, p: pOfTrials(first, second, percent) };
    const endOf = (inside, outside) => {
      for (let at = 0; at < HALVINGS; at++) {
        const middle = (inside + outside) / 2, found = tOfShares(first, second, percent, Math.exp(middle));
        if (found !== null && Math.abs(found) > quantile(freedom)) outside = middle; else inside = middle;
      }
      return Math.exp(outside);
    };
    const centre = Math.log(to / from), ends = [Math.log(own[1].low / own[0].high), Math.log(own[1].high / own[0].low)], p = pOfShares(first, second, percent);
    const found = { ratio: to / from, interval: { low: endOf(centre, ends[0]), high: endOf(centre, ends[1]) }, p };
    if (percent <= PLAIN_MAX) return found;
    const left = [first, second].map((one) => logs(without(one, percent))), each = [first, second].map((one) => logs(one.trials.map((trial) => percentileOf(trial, percent))));
    if (!left[0] || !left[1] || !each[0] || !each[1]) return { ratio: to / from, interval: null, p: 1 };
    const differences = ([a, b]) => a.map((value, at) => b[at] - value);
    const error = Math.max(jackknifeError(differences(left)), sectioningError(differences(each), centre));
    const tail = logChange(centre, error, freedom);
    return { ratio: found.ratio, interval: { low: Math.min(found.interval.low, tail.interval.low), high: Math.max(found.interval.high, tail.interval.high) }, p: Math.max(ends[0] <= 0 && 0 <= ends[1] ? p : 0, tail.p) };
  };
  // Numbers of the trials whose sums say which figure is the larger.
  const jointScores = (first, second, percent) => {
    const both = joined([...first.trials, ...second.trials]), at = percentileOf(both.pooled, percent);
    if (at === null) return null;
    const found = scores(both, at, percent);
    return [found.slice(0, first.trials.length), found.slice(first.trials.length)];
  };
  const logsOrValues = (first, second) => (Math.min(...first, ...second) > 0 ? [first.map(Math.log), second.map(Math.log)] : [first, second]);
  // Those of latencies: where they have no intervals, the percentiles of the trials.
  const latencyScores = (first, second, percent) => {
    if (hasIntervals(first, second, percent)) return jointScores(first, second, percent);
    return logsOrValues(...[first, second].map((one) => one.trials.map((trial) => estimate(trial, percent).ps)));
  };
  // Exact p value of a mean difference of pairs, by exchanging the labels in each; Student's where so few pairs cannot be significant among so many tests. 1 where the arrangements are too many.
  const pOfPairs = (first, second, tests) => {
    const n = first.length, arrangements = 2 ** n, differences = second.map((value, at) => value - first[at]);
    if ((tests * 2) / arrangements >= SIGNIFICANCE) return n < VALUES_MIN ? 1 : Math.max(pStudent(tRatio(mean(differences), meanError(differences)), n - 1), 2 / choose(2 * n, n));
    if (arrangements > ARRANGEMENTS_MAX) return 1;
    const observed = Math.abs(sum(differences)) - 1e-12 * sum(differences.map(Math.abs));
    let extreme = 0;
    for (let signs = 0; signs < arrangements; signs++) if (Math.abs(sum(differences.map((value, at) => ((signs >> at) & 1 ? -value : value)))) >= observed) extreme++;
    return extreme / arrangements;
  };
  // Whether one of so many comparisons can be significant after so many trials: pairs reach 2 / 2^n at best.
  const canDecide = (trials, tests) => LOOKS.some((look) => look <= trials && LOOKS.length * tests * 2 * 0.5 ** look < SIGNIFICANCE);
  const choose = (n, k) => { let found = 1; for (let at = 1; at <= k; at++) found = (found * (n - k + at)) / at; return found; };
  // Holm's method.
  const holm = (values) => {
    const order = values.map((_, at) => at).sort((one, other) => values[one] - values[other]), found = [];
    let largest = 0;
    order.forEach((at, place) => { largest = Math.max(largest, Math.min(1, values[at] * (values.length - place))); found[at] = largest; });
    return found;
  };
  return { LEVEL, LOOKS, SIGNIFICANCE, mean, pStudent, quantile, latencies, estimate, trialsNeeded, percentileInterval, logInterval, meanChange, percentileChange, latencyScores, logsOrValues, pOfPairs, canDecide, holm };
})();
if (typeof module !== "undefined") module.exports = statistics;
