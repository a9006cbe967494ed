import { expect, it } from "vitest";
import * as z from "zod";
import { issueCollector } from "./issue-collector.ts";

it("adds an issue to the schema, under its path", () => {
  const schema = z.object({ disks: z.array(z.object({ size: z.number() })) }).superRefine(({ disks }, check) => {
    if (disks[0]?.size === 0) issueCollector(check)(["disks", 0, "size"], "must not be nothing");
  });
  expect(schema.safeParse({ disks: [{ size: 1 }] }).success).toBe(true);
  expect(schema.safeParse({ disks: [{ size: 0 }] }).error?.issues).toMatchObject([
    { path: ["disks", 0, "size"], message: "must not be nothing" },
  ]);
});
