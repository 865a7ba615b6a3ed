/**
 * The texts of a picture: ticks, names, legend, description. Places of dots may differ between devices in their last
 * digit.
 */
export function svgTexts(svg: string): string[] {
  return Array.from(svg.matchAll(/>([^<>]*[^<>\s][^<>]*)</g), ([, text]) => text!);
}
