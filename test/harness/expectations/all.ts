import { candleElementwise } from './candle-elementwise.ts';
import { candleRows } from './candle-rows.ts';
import type { Expectations } from './expectation.ts';
import { generated } from './generated.ts';
import { ggml } from './ggml.ts';
import { integers } from './integers.ts';
import { mixed } from './mixed.ts';
import { mlxProducts } from './mlx-products.ts';
import { mlxRows } from './mlx-rows.ts';

export const all: Expectations = {
  ...candleElementwise,
  ...candleRows,
  ...ggml,
  ...mlxRows,
  ...mlxProducts,
  ...integers,
  ...generated,
  ...mixed,
};
