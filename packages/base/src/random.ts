/** The only source of randomness: names, ids and jitter take a `Random`, so that a run can be repeated from its seed. */
export interface Random {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** `bytes` random bytes as lower-case hexadecimal, two digits each. */
  hex(bytes: number): string;
  /** A name suffix of `length` characters out of the alphabet that Kubernetes uses for generated names. */
  suffix(length: number): string;
  /** A version 4 UUID. */
  uuid(): string;
}

/**
 * The 27 characters of Kubernetes' generated name suffixes (`k8s.io/apimachinery/pkg/util/rand`): no vowels and no
 * look-alikes, so that no words come out.
 */
export const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

function randomFrom(next: () => number): Random {
  const hex = (bytes: number): string =>
    Array.from({ length: bytes }, () =>
      Math.floor(next() * 256)
        .toString(16)
        .padStart(2, "0"),
    ).join("");
  return Object.freeze({
    next,
    hex,
    suffix: (length: number) =>
      Array.from({ length }, () => suffixAlphabet.charAt(Math.floor(next() * suffixAlphabet.length))).join(""),
    uuid: () => {
      const digits = hex(16);
      const variant = (8 + Math.floor(next() * 4)).toString(16);
      return [
        digits.slice(0, 8),
        digits.slice(8, 12),
        `4${digits.slice(13, 16)}`,
        `${variant}${digits.slice(17, 20)}`,
        digits.slice(20),
      ].join("-");
    },
  });
}

/** Random numbers of the operating system, which are read many at once: a name takes several, and each read costs a system call. */
const drawn = new Uint32Array(512);
let used = drawn.length;

function draw(): number {
  if (used === drawn.length) {
    crypto.getRandomValues(drawn);
    used = 0;
  }
  const value = drawn[used] ?? 0;
  // What was given out is not kept: it may be part of a token.
  drawn[used] = 0;
  used++;
  return value;
}

/** Randomness of the operating system, good enough for tokens. */
export const systemRandom: Random = randomFrom(
  // 53 bits are what a double holds between 0 and 1.
  () => ((draw() >>> 5) * 2 ** 26 + (draw() >>> 6)) / 2 ** 53,
);

/**
 * Repeatable randomness: the same seed gives the same values in the same order. For simulations and tests, never for
 * tokens (mulberry32, 32 bits of state).
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return randomFrom(() => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  });
}
