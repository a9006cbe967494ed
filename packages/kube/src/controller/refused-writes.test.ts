import { createVirtualClock } from "@millwright/base/testing";
import { expect, it } from "vitest";
import { ApiError } from "../client/api-error.ts";
import {
  createRefusedWrites,
  describeWrite,
  isLasting,
  type ObjectWrite,
  type Refusal,
  refusalOf,
} from "./refused-writes.ts";

const disks = { group: "example.com", version: "v1", kind: "Disk", plural: "disks", namespaced: true };
const writeOf = (name: string, verb: ObjectWrite["verb"] = "patch"): ObjectWrite => ({
  verb,
  type: disks,
  ref: { namespace: "default", name },
});
const refusal = (status: number) => new ApiError({ status, reason: "Refused", message: "denied by a webhook" });

function setUp() {
  const clock = createVirtualClock();
  const reported: Refusal[] = [];
  const refused = createRefusedWrites(clock, (each) => reported.push(each));
  let sent = 0;
  const write = (error?: Error) => async () => {
    sent++;
    if (error !== undefined) throw error;
    return "written";
  };
  return { clock, refused, reported, write, sent: () => sent };
}

it.each([400, 403, 413, 422, 500])(
  "sends ever fewer writes of an object while they are refused with %i",
  async (status) => {
    const { clock, refused, write, sent } = setUp();
    let rejections = 0;
    for (let elapsedMs = 0; elapsedMs < 600_000; elapsedMs += 100) {
      await refused.send(writeOf("a"), write(refusal(status))).catch(() => rejections++);
      await clock.advance(100);
    }
    // 0.2 s, 0.4 s … 51.2 s, then every minute.
    expect([sent(), rejections]).toEqual([19, 6_000]);
  },
);

it("rejects with the last error, and when the next write may be sent", async () => {
  const { clock, refused, write } = setUp();
  for (let count = 0; count < 2; count++) await refused.send(writeOf("a"), write(refusal(403))).catch(() => {});
  await clock.advance(50);
  await expect(refused.send(writeOf("a"), write())).rejects.toMatchObject({
    status: 403,
    message: "denied by a webhook",
    retryAfterMs: 150,
  });
  await clock.advance(150);
  expect(await refused.send(writeOf("a"), write())).toBe("written");
});

it("does not delay other objects, nor an object whose last write was accepted", async () => {
  const { refused, write } = setUp();
  for (let count = 0; count < 2; count++) await refused.send(writeOf("a"), write(refusal(403))).catch(() => {});
  expect(await refused.send(writeOf("b"), write())).toBe("written");
  await refused.send(writeOf("c"), write(refusal(403))).catch(() => {});
  expect(await refused.send(writeOf("c"), write())).toBe("written");
  await refused.send(writeOf("c"), write(refusal(403))).catch(() => {});
  expect(await refused.send(writeOf("c"), write())).toBe("written");
});

it.each([0, 401, 404, 409, 429, 503])("leaves errors with status %i to the reconcile", async (status) => {
  const { refused, write, sent } = setUp();
  for (let count = 0; count < 5; count++) await refused.send(writeOf("a"), write(refusal(status))).catch(() => {});
  expect(sent()).toBe(5);
});

it("reports each refused write with its verb, resource and answer, and not what it holds back", async () => {
  const { refused, reported, write } = setUp();
  const status: ObjectWrite = { ...writeOf("a"), subresource: "status" };
  const errors: unknown[] = [];
  for (let count = 0; count < 4; count++)
    await refused.send(status, write(refusal(403))).catch((error: unknown) => errors.push(error));
  const answer = { status: 403, reason: "Refused", message: "denied by a webhook" };
  expect(reported).toEqual([
    { write: status, answer, count: 1, isRepeated: false },
    { write: status, answer, count: 2, isRepeated: false },
  ]);
  expect(errors.map(refusalOf)).toMatchObject([
    { count: 1, isRepeated: false },
    { count: 2, isRepeated: false },
    { count: 2, isRepeated: true },
    { count: 2, isRepeated: true },
  ]);
  expect(describeWrite(status)).toBe("patch disks/status default/a");
});

it("distinguishes a refusal that lasts from those of a server that restarts", async () => {
  const { clock, refused, reported, write } = setUp();
  for (let count = 0; count < 3; count++) {
    await refused.send(writeOf("a"), write(refusal(500))).catch(() => {});
    await clock.advance(1_000);
  }
  expect(reported.map(isLasting)).toEqual([false, false, true]);
  await refused.send(writeOf("a"), write());
  await refused.send(writeOf("a"), write(refusal(500))).catch(() => {});
  expect(reported.map(({ count }) => count)).toEqual([1, 2, 3, 1]);
});

it("does not delay creations, which are others each time", async () => {
  const { refused, reported, write, sent } = setUp();
  for (let count = 0; count < 5; count++)
    await refused.send(writeOf("a", "create"), write(refusal(403))).catch(() => {});
  expect([sent(), reported.some(isLasting)]).toEqual([5, false]);
});

it("does not delay the deletion of an object of which patches are refused", async () => {
  const { refused, write } = setUp();
  for (let count = 0; count < 3; count++) await refused.send(writeOf("a"), write(refusal(403))).catch(() => {});
  expect(await refused.send(writeOf("a", "delete"), write())).toBe("written");
});
