/** The minimum, also of more numbers than a function takes arguments; Infinity for none. */
export const minOf = (numbers: readonly number[]): number =>
  numbers.reduce((least, number) => Math.min(least, number), Infinity);

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
