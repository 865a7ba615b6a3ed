/** A ratio with two decimals, or with three significant digits where that says more: `1.08`, `0.00213`, `118`. */
export function ratioText(ratio: number): string {
  if (!Number.isFinite(ratio)) return '-';
  if (ratio >= 100) return ratio.toFixed(0);
  return ratio >= 0.1 ? ratio.toFixed(2) : `${Number(ratio.toPrecision(3))}`;
}
