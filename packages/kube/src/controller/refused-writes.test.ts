import { createVirtualClock } from "@millwright/base/testing";
import { expect, it } from "vitest";
import { ApiError } from "../client/api-error.ts";
import { createRefusedWrites } from "./refused-writes.ts";

const refusal = (status: number) => new ApiError({ status, reason: "Refused", message: "denied by a webhook" });

function setUp() {
  const clock = createVirtualClock();
  const refused = createRefusedWrites(clock);
  let sent = 0;
  const write = (error?: Error) => async () => {
    sent++;
    if (error !== undefined) throw error;
    return "written";
  };
  return { clock, refused, write, sent: () => sent };
}

it.each([400, 403, 413, 422, 500])(
  "sends ever fewer writes of an object while they are refused with %i",
  async (status) => {
    const { clock, refused, write, sent } = setUp();
    let rejections = 0;
    for (let elapsedMs = 0; elapsedMs < 600_000; elapsedMs += 100) {
      await refused.send("a", write(refusal(status))).catch(() => rejections++);
      await clock.advance(100);
    }
    // 0.2 s, 0.4 s … 51.2 s, then every minute.
    expect([sent(), rejections]).toEqual([19, 6_000]);
  },
);

it("rejects with the last error, and when the next write may be sent", async () => {
  const { clock, refused, write } = setUp();
  for (let count = 0; count < 2; count++) await refused.send("a", write(refusal(403))).catch(() => {});
  await clock.advance(50);
  await expect(refused.send("a", write())).rejects.toMatchObject({
    status: 403,
    message: "denied by a webhook",
    retryAfterMs: 150,
  });
  await clock.advance(150);
  expect(await refused.send("a", write())).toBe("written");
});

it("does not delay other objects, nor an object whose last write was accepted", async () => {
  const { refused, write } = setUp();
  for (let count = 0; count < 2; count++) await refused.send("a", write(refusal(403))).catch(() => {});
  expect(await refused.send("b", write())).toBe("written");
  await refused.send("c", write(refusal(403))).catch(() => {});
  expect(await refused.send("c", write())).toBe("written");
  await refused.send("c", write(refusal(403))).catch(() => {});
  expect(await refused.send("c", write())).toBe("written");
});

it.each([0, 401, 404, 409, 429, 503])("leaves errors with status %i to the reconcile", async (status) => {
  const { refused, write, sent } = setUp();
  for (let count = 0; count < 5; count++) await refused.send("a", write(refusal(status))).catch(() => {});
  expect(sent()).toBe(5);
});
