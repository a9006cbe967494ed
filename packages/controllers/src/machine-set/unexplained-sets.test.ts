import { expect, it } from "vitest";
import { keyOf } from "@millwright/kube";
import { aMachineSet } from "../testing/builders.ts";
import { trackUnexplainedSets } from "./unexplained-sets.ts";

const set = (replicas?: number) => aMachineSet(replicas === undefined ? {} : { status: { replicas } });
const key = keyOf(set());

it("misses machines that the status counted at first, although the status is written meanwhile, until they are there", () => {
  const { observe } = trackUnexplainedSets();
  expect(observe(set(3), 0)).toBe(true);
  expect(observe(set(0), 2)).toBe(true);
  expect(observe(set(2), 3)).toBe(false);
  expect(observe(set(3), 0)).toBe(false);
});

it("misses none of a new set, of a complete one, or once machines were created", () => {
  const { observe, settle } = trackUnexplainedSets();
  expect(observe(set(), 0)).toBe(false);
  const other = trackUnexplainedSets();
  expect(other.observe(set(2), 2)).toBe(false);
  expect(other.observe(set(2), 1)).toBe(false);
  const third = trackUnexplainedSets();
  third.observe(set(3), 1);
  third.settle(key);
  expect(third.observe(set(3), 1)).toBe(false);
  settle(key);
});

it("starts again with a set that was forgotten", () => {
  const { observe, forget } = trackUnexplainedSets();
  expect(observe(set(1), 1)).toBe(false);
  forget(key);
  expect(observe(set(3), 1)).toBe(true);
});
