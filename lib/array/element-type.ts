import type { Dtype, RealDtype } from '../dtype.ts';

/** The element type of an input: its own, or `plain` for arrays of numbers. */
export type ElementType<Given> =
  | (Given extends Float32Array
      ? 'float32'
      : Given extends Float64Array
        ? 'float64'
        : Given extends Int32Array
          ? 'int32'
          : Given extends Uint32Array
            ? 'uint32'
            : Given extends Uint8Array
              ? 'uint8'
              : Given extends { readonly dtype: infer Own extends Dtype }
                ? Own
                : Given extends readonly (infer Entry)[]
                  ? ElementType<Entry>
                  : Given extends { getChild(name: never): unknown } | { columnNames(): unknown }
                    ? 'plain' | 'float32' | 'float64'
                    : Given extends { readonly data: infer Data; readonly shape: unknown }
                      ? ElementType<Data>
                      : Given extends { readonly [name: string]: infer Column }
                        ? OfColumn<ElementType<Column>>
                        : 'plain')
  // Of an empty array.
  | ([Given] extends [never] ? 'plain' : never);

// Whole numbers of columns become float32, like those of an array.
type OfColumn<Own extends Dtype | 'plain'> = Own extends RealDtype ? Own : 'plain';

/**
 * The element type of a Matrix, a Vector or a Volume that is made from `Given` with the option `dtype` of type `Asked`.
 */
export type MadeOf<Given, Asked extends Dtype | undefined> =
  | Exclude<Asked, undefined>
  | (undefined extends Asked ? Exclude<ElementType<Given>, 'plain'> | PlainIs<'float32', ElementType<Given>> : never);

type PlainIs<D extends Dtype, Given> = 'plain' extends Given ? D : never;

/** The options whose numbers determine the element type of a distribution. */
export type NumberOption =
  | ('mean' | 'covariance' | 'variances' | 'values' | 'vectors' | 'factor' | 'diagonal')
  | ('correlation' | 'standardDeviations' | 'precision' | 'rows' | 'means' | 'covariances')
  | ('location' | 'scale' | 'scales');

/**
 * The element type of a distribution that is made with these options: `dtype` if it is given; else `float64` if an
 * option's numbers are a Float64Array, or a Matrix or a Vector of float64; else `float32`. An Apple GPU computes only
 * in float32: pass `dtype: 'float32'` there, so that the type is right.
 */
export type DtypeOf<Options> =
  | (Options extends { readonly dtype?: infer Asked } ? Extract<Asked, RealDtype> : never)
  | (Options extends { readonly dtype: RealDtype } ? never : Followed<OptionTypes<Options>>);

// Of each option apart: true where it is float64, false where it is not, boolean where that is not known.
type OptionTypes<Options> = {
  [Name in keyof Options]: Name extends NumberOption ? IsFloat64<ElementType<Options[Name]>> : 'no';
}[keyof Options];

type IsFloat64<Given> = [Given] extends ['float64'] ? 'yes' : 'float64' extends Given ? 'perhaps' : 'no';

type Followed<Options> = 'yes' extends Options ? 'float64' : 'perhaps' extends Options ? RealDtype : 'float32';

/** The options of a call, without any that the call does not have. `Known` itself is there for editors to list. */
export type Only<Options, Known> = Options & Known & { readonly [Name in Exclude<keyof Options, keyof Known>]: never };
