import type { Environment } from "@marcbachmann/cel-js";
import { quantityInNanos, quantityRule } from "../../../objects/quantity.ts";

const one = 1_000_000_000n;
const largestInt = 2n ** 63n;

/** A `resource.Quantity` in rules. */
class Quantity {
  readonly #nanos: bigint;

  constructor(nanos: bigint) {
    this.#nanos = nanos;
  }

  static parse(text: string): Quantity {
    const nanos = quantityInNanos(text);
    if (nanos === undefined) throw new Error(quantityRule);
    return new Quantity(nanos);
  }

  get nanos(): bigint {
    return this.#nanos;
  }

  get isInteger(): boolean {
    return this.#nanos % one === 0n && this.#nanos / one < largestInt && this.#nanos / one >= -largestInt;
  }
}

function compare(a: Quantity, b: Quantity): bigint {
  return a.nanos < b.nanos ? -1n : a.nanos > b.nanos ? 1n : 0n;
}

/**
 * Adds `quantity()`, `isQuantity()` and the methods of quantities. Source: Kubernetes documentation, "Quantity library".
 */
export function addQuantities(environment: Environment): Environment {
  return environment
    .registerType("Quantity", Quantity)
    .registerFunction("quantity(string): Quantity", (text: string) => Quantity.parse(text))
    .registerFunction("isQuantity(string): bool", (text: string) => quantityInNanos(text) !== undefined)
    .registerFunction("sign(Quantity): int", (own: Quantity) => compare(own, new Quantity(0n)))
    .registerFunction("Quantity.isInteger(): bool", (own: Quantity) => own.isInteger)
    .registerFunction("Quantity.asInteger(): int", (own: Quantity) => {
      if (!own.isInteger) throw new Error("cannot convert value to integer");
      return own.nanos / one;
    })
    .registerFunction("Quantity.asApproximateFloat(): double", (own: Quantity) => Number(own.nanos) / Number(one))
    .registerFunction("Quantity.isGreaterThan(Quantity): bool", (a: Quantity, b: Quantity) => compare(a, b) > 0n)
    .registerFunction("Quantity.isLessThan(Quantity): bool", (a: Quantity, b: Quantity) => compare(a, b) < 0n)
    .registerFunction("Quantity.compareTo(Quantity): int", compare)
    .registerFunction("Quantity.add(Quantity): Quantity", (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos))
    .registerFunction("Quantity.add(int): Quantity", (a: Quantity, b: bigint) => new Quantity(a.nanos + b * one))
    .registerFunction("Quantity.sub(Quantity): Quantity", (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos))
    .registerFunction("Quantity.sub(int): Quantity", (a: Quantity, b: bigint) => new Quantity(a.nanos - b * one))
    .registerOperator("Quantity == Quantity", (a: Quantity, b: Quantity) => compare(a, b) === 0n);
}
