/** `value`, whose type is exactly `Type`: anything else fails `npm run lint`. */
export const is =
  <Type>() =>
  <Given>(value: Given & ([Given] extends [Type] ? ([Type] extends [Given] ? Given : never) : never)): Given =>
    value;
