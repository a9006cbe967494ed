import { annotationKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, annotated } from "../testing/builders.ts";
import { isReleased, ownShareOf, ownShareProblems } from "./own-share.ts";

const withShare = (text: string) => aMachineDeployment(annotated({ [annotationKeys.maxDeletionShare]: text }));

describe("the share of a pool", () => {
  it.each([
    ["100%", 1],
    ["100", 1],
    ["75%", 0.75],
    ["1%", 0.01],
  ])("is %s", (text, share) => {
    expect(ownShareOf(withShare(text))).toBe(share);
    expect(ownShareProblems(withShare(text))).toEqual([]);
  });

  it.each(["", "0", "0%", "101%", "all", "0.5", "-5%", "50 %", "50%%"])("is not %j, which is a problem", (text) => {
    expect(ownShareOf(withShare(text))).toBeUndefined();
    expect(ownShareProblems(withShare(text))).toEqual([
      {
        path: "metadata.annotations[machine.millwright.dev/max-deletion-share]",
        message: `must be a percentage from 1% to 100%, is "${text}"`,
        kind: "invalid",
      },
    ]);
  });

  it("is none without the annotation", () => {
    expect([ownShareOf(undefined), ownShareOf(aMachineDeployment())]).toEqual([undefined, undefined]);
    expect(ownShareProblems(aMachineDeployment())).toEqual([]);
  });

  it("takes the pool out of the share of the namespace only above it", () => {
    expect([undefined, 0.3, 0.5, 0.6].map((own) => isReleased(own, 0.5))).toEqual([false, false, false, true]);
  });
});
