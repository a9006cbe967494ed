import { eventReasons } from "@millwright/core/machine-api";
import { ApiError, eventResource } from "@millwright/kube";
import { createFakeApi, serverError } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { clockAgrees, clockDiffers } from "./clock-skew-texts.ts";
import { clockSkews } from "./clock-skews.ts";

const namespace = "shoot";
const now = new Date("2026-01-01T12:00:00Z");

function aCluster() {
  const control = createFakeApi();
  let count = 0;
  const seed = (reason: string, message: string, minutesAgo: number): void => {
    control.seed<never>(eventResource, {
      metadata: { namespace, name: `e-${++count}` },
      involvedObject: { kind: "Namespace", name: namespace },
      reason,
      message,
      lastTimestamp: new Date(now.getTime() - minutesAgo * 60_000).toISOString(),
    } as never);
  };
  return { control, seed, found: () => clockSkews({ control, namespace }, now) };
}

it("are those of the last events, each cluster by itself", async () => {
  const { seed, found } = aCluster();
  expect(await found()).toEqual([]);
  seed(eventReasons.clockSkew, clockDiffers("control", 61), 5);
  seed(eventReasons.clockSkew, clockDiffers("target", -3_600), 9);
  seed(eventReasons.apiServerWentBack, clockDiffers("other", 61), 1);
  expect(await found()).toEqual([clockDiffers("target", -3_600), clockDiffers("control", 61)]);
  seed(eventReasons.clockSkewEnded, clockAgrees("target"), 1);
  expect(await found()).toEqual([clockDiffers("control", 61)]);
  seed(eventReasons.clockSkew, clockDiffers("target", 7), 0);
  expect(await found()).toHaveLength(2);
});

it("are not those of a process that has ended", async () => {
  const { seed, found } = aCluster();
  seed(eventReasons.clockSkew, clockDiffers("control", 61), 16);
  expect(await found()).toEqual([]);
});

it("are none when events may not be listed, and fail with the API server", async () => {
  const { control, seed, found } = aCluster();
  seed(eventReasons.clockSkew, clockDiffers("control", 61), 1);
  control.inject({ verb: "list", error: new ApiError({ status: 403, reason: "Forbidden", message: "no" }) });
  expect(await found()).toEqual([]);
  control.inject({ verb: "list", error: serverError() });
  await expect(found()).rejects.toThrow("request timed out");
});
