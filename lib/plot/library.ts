// The only file that imports the plotting libraries. Both are development dependencies: build.mjs bundles into dist/
// what is named here, so that installing covarium does not install them.
export type * from '@observablehq/plot';
export {
  areaY,
  axisX,
  axisY,
  barX,
  dot,
  frame,
  gridX,
  gridY,
  line,
  link,
  plot,
  ruleX,
  text,
  vector,
} from '@observablehq/plot';
export { parseHTML } from 'linkedom';
