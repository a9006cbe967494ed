import type { Environment } from "@marcbachmann/cel-js";

const pattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

/** A semantic version. */
class Semver {
  readonly #numbers: readonly bigint[];
  readonly #tags: readonly string[];

  constructor(text: string) {
    const found = pattern.exec(text);
    if (found === null) throw new Error(`Semver string "${text}" could not be read`);
    this.#numbers = found.slice(1, 4).map((part) => BigInt(part));
    this.#tags = found[4]?.split(".") ?? [];
  }

  number(index: number): bigint {
    return this.#numbers[index] ?? 0n;
  }

  compareTo(other: Semver): bigint {
    for (const index of [0, 1, 2]) {
      const difference = this.number(index) - other.number(index);
      if (difference !== 0n) return difference < 0n ? -1n : 1n;
    }
    return compareTags(this.#tags, other.#tags);
  }
}

/** Source: semver.org, section 11. */
function compareTags(a: readonly string[], b: readonly string[]): bigint {
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 0n : a.length === 0 ? 1n : -1n;
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) return 1n;
    if (left === right) continue;
    const [isLeftNumber, isRightNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
    if (isLeftNumber !== isRightNumber) return isLeftNumber ? -1n : 1n;
    const isLess = isLeftNumber ? BigInt(left) < BigInt(right) : left < right;
    return isLess ? -1n : 1n;
  }
  return a.length < b.length ? -1n : 0n;
}

/**
 * Adds `semver()`, `isSemver()` and the methods of versions. Source: Kubernetes documentation, "Kubernetes semver library".
 */
export function addSemvers(environment: Environment): Environment {
  return environment
    .registerType("Semver", Semver)
    .registerFunction("semver(string): Semver", (text: string) => new Semver(text))
    .registerFunction("isSemver(string): bool", (text: string) => pattern.test(text))
    .registerFunction("Semver.major(): int", (own: Semver) => own.number(0))
    .registerFunction("Semver.minor(): int", (own: Semver) => own.number(1))
    .registerFunction("Semver.patch(): int", (own: Semver) => own.number(2))
    .registerFunction("Semver.isGreaterThan(Semver): bool", (a: Semver, b: Semver) => a.compareTo(b) > 0n)
    .registerFunction("Semver.isLessThan(Semver): bool", (a: Semver, b: Semver) => a.compareTo(b) < 0n)
    .registerFunction("Semver.compareTo(Semver): int", (a: Semver, b: Semver) => a.compareTo(b))
    .registerOperator("Semver == Semver", (a: Semver, b: Semver) => a.compareTo(b) === 0n);
}
