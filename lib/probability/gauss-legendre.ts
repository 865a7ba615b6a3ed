/** Nodes on (-1, 1) and weights of the Gauss-Legendre rule of `count` points, by Newton's steps on the Legendre polynomial. */
export function gaussLegendre(count: number): { readonly nodes: Float64Array; readonly weights: Float64Array } {
  const nodes = new Float64Array(count);
  const weights = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let x = -Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
    let slope = 0;
    // Quadratic convergence from 1e-3: four steps are enough, the last makes the slope exact.
    for (let step = 0; step < 5; step++) {
      let [before, value] = [0, 1];
      for (let k = 1; k <= count; k++) [before, value] = [value, ((2 * k - 1) * x * value - (k - 1) * before) / k];
      slope = (count * (x * value - before)) / (x * x - 1);
      x -= value / slope;
    }
    nodes[i] = x;
    weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return { nodes, weights };
}
