import { expect, it } from "vitest";
import { labelKeyProblem, labelValueProblem } from "../api/values/label-syntax.ts";
import { annotationKeys, preserveValues } from "./annotations.ts";
import {
  clusterApiConditionTypes,
  conditionOrder,
  summaryConditionTypes,
  legacyConditionTypes,
} from "./condition-types.ts";
import { clusterApiReasons, legacyReasons, specValidReasons } from "./condition-reasons.ts";
import { finalizers } from "./finalizers.ts";
import { labelKeys, updateResults } from "./labels.ts";
import { inPlaceUpdateMessages, inPlaceUpdateReasons } from "./node-conditions.ts";
import { taintKeys } from "./taints.ts";

it("holds keys that Kubernetes accepts", () => {
  for (const keys of [labelKeys, annotationKeys, finalizers, taintKeys]) {
    const all = Object.values(keys);
    expect(all.filter((key) => labelKeyProblem(key) !== undefined)).toEqual([]);
    expect(new Set(all).size).toBe(all.length);
  }
});

it("holds label values that Kubernetes accepts", () => {
  const values = [...Object.values(updateResults), ...Object.values(preserveValues)];
  expect(values.filter((value) => labelValueProblem(value) !== undefined)).toEqual([]);
});

it("orders every condition type of a deployment, legacy ones first", () => {
  const types = [legacyConditionTypes, clusterApiConditionTypes, summaryConditionTypes].flatMap((each) =>
    Object.values(each),
  );
  expect(conditionOrder.toSorted()).toEqual(types.toSorted());
  expect(conditionOrder.slice(0, 4)).toEqual(["Available", "Progressing", "ReplicaFailure", "Frozen"]);
});

it("holds reasons in one word, as Kubernetes asks for", () => {
  for (const reasons of [legacyReasons, clusterApiReasons, specValidReasons]) {
    expect(Object.values(reasons).filter((reason) => !/^[A-Z][A-Za-z]+$/.test(reason))).toEqual([]);
  }
});

it("has a message for each reason of an update in place", () => {
  expect(Object.keys(inPlaceUpdateMessages)).toEqual(Object.values(inPlaceUpdateReasons));
});
