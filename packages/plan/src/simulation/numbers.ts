/** The least of numbers, of which there may be more than a function has room for arguments; Infinity of none. */
export const minOf = (numbers: readonly number[]): number =>
  numbers.reduce((least, number) => Math.min(least, number), Infinity);

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
