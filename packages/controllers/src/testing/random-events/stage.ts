import type { Clock } from "@millwright/base";
import type { FakeApi } from "@millwright/kube/testing";
import type { FakeDriver } from "../fake-driver.ts";

/** Where random things happen. */
export interface Stage {
  readonly api: FakeApi;
  readonly clock: Pick<Clock, "now">;
  readonly driver: FakeDriver;
  /** A whole number from 0, less than `count`. */
  readonly below: (count: number) => number;
  readonly oneOf: <T>(list: readonly T[]) => T | undefined;
  /** True in this part of all cases, 0 to 1. */
  readonly chance: (part: number) => boolean;
  /** A number that was not there before. */
  readonly next: () => number;
}

/** What may happen, by name. Where there is nothing for it to happen to, nothing does. */
export type RandomEvents = Readonly<Record<string, () => unknown>>;
