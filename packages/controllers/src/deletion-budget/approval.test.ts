import { annotationKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { applyMergePatch } from "@millwright/kube";
import { annotated, aMachineDeployment } from "../testing/builders.ts";
import {
  approvalOf,
  approvesItself,
  approvesRequest,
  isApprovedBy,
  usedApprovals,
  usedApprovalsPatch,
} from "./approval.ts";

const now = new Date("2026-01-01T12:00:00Z");
const uid = "0a1b2c3d-1111";
const withValue = (value: string, used?: string) => ({
  metadata: {
    name: "m",
    uid,
    generation: 7,
    annotations: {
      [annotationKeys.approveDeletions]: value,
      ...(used === undefined ? {} : { [annotationKeys.usedApprovals]: used }),
    },
  },
});

describe("an approval", () => {
  it.each([
    ["2026-01-01T12:00:01Z", true],
    ["2026-01-01T11:00:00-02:00", true],
    ["2026-01-01T12:30:00.5Z", true],
    ["2026-01-01T13:00:00+02:00", false],
    ["2026-01-01T12:00:00Z", false],
    ["true", false],
    ["", false],
    ["2027", false],
    ["2027-01-01", false],
    ["2027-01-01T00:00:00", false],
    ["2027-13-01T00:00:00Z", false],
    ["deletions=3,generation=7,uid=0a1b2c3d", false],
  ])("of everything for a time is %j: %s", (value, isApproved) => {
    expect(approvalOf(withValue(value), now).state === "approved").toBe(isApproved);
    expect(isApprovedBy([undefined, { metadata: { name: "other" } }, withValue(value)], now)).toBe(isApproved);
  });

  it.each<[string, string | undefined, string | undefined]>([
    ["deletions=3,generation=7,uid=0a1b2c3d", undefined, undefined],
    ["deletions=3,generation=7,uid=0a1b2c3d", "generation=7,count=2", undefined],
    ["deletions=3,generation=7,uid=0a1b2c3d", "generation=6,count=9", undefined],
    ["deletions=3,generation=7,uid=0a1b2c3d", "unreadable", undefined],
    ["deletions=3,generation=7,uid=0a1b2c3d,until=2026-01-01T12:00:01Z", undefined, undefined],
    ["requests=3,before=2026-01-01T11:00:00Z,uid=0a1b2c3d", "generation=7,count=3", undefined],
    ["deletions=3,generation=7,uid=0a1b2c3d", "generation=7,count=3", "it is used up"],
    ["deletions=3,generation=6,uid=0a1b2c3d", undefined, "the spec has changed since"],
    ["deletions=3,generation=7,uid=ffffffff", undefined, "it is for another object"],
    ["deletions=3,generation=7,uid=0a1b2c3d,until=2026-01-01T12:00:00Z", undefined, "it has expired"],
    ["deletions=3", undefined, "it is neither an RFC 3339 time nor a value that a hold shows"],
    ["2026-01-01T12:00:00Z", undefined, "it has expired"],
  ])("of what was held, %s where %s was used, ends: %s", (value, used, why) => {
    expect(approvalOf(withValue(value, used), now)).toMatchObject(
      why === undefined ? { state: "bound" } : { state: "void", value, why },
    );
  });

  it("is none without the annotation", () => {
    expect(approvalOf({ metadata: { name: "m" } }, now)).toEqual({ state: "none" });
  });

  it.each([
    ["requests=1,uid=0a1b2c3d", true],
    ["2026-01-01T12:00:01Z", true],
    ["deletions=3,generation=7,uid=0a1b2c3d", false],
    ["requests=1,uid=ffffffff", false],
  ])("of a Machine, %s, covers its own deletion: %s", (value, isApproved) => {
    expect(approvesItself(withValue(value), now)).toBe(isApproved);
  });

  it.each([
    ["requests=1,before=2026-01-01T11:00:00Z,uid=0a1b2c3d", true],
    ["requests=1,before=2026-01-01T10:59:59Z,uid=0a1b2c3d", false],
    ["requests=1,generation=7,uid=0a1b2c3d", false],
    ["deletions=1,generation=7,uid=0a1b2c3d", false],
    ["2026-01-01T12:00:01Z", true],
    ["2026-01-01T11:59:59Z", false],
  ])("of an owner, %s, covers a Machine with its former UID: %s", (value, isApproved) => {
    const machine = { metadata: { name: "lost", deletionTimestamp: "2026-01-01T11:00:00Z" } };
    expect(approvesRequest(withValue(value), machine, now)).toBe(isApproved);
    expect(approvesRequest(withValue(value), { metadata: { name: "kept" } }, now)).toBe(
      isApproved && value.startsWith("2026"),
    );
  });

  it("is used in a generation, as the object records it, in the version that was read", () => {
    const deployment = aMachineDeployment({ metadata: { resourceVersion: "5" } });
    expect(usedApprovals(deployment)).toBe(0);
    const patch = usedApprovalsPatch(deployment, 12);
    expect(patch).toMatchObject({ metadata: { resourceVersion: "5" } });
    expect(usedApprovals(aMachineDeployment(applyMergePatch(deployment, patch) as object))).toBe(12);
    const later = aMachineDeployment(annotated({ [annotationKeys.usedApprovals]: "generation=1,count=12" }), {
      metadata: { generation: 2 },
    });
    expect(usedApprovals(later)).toBe(0);
    expect(usedApprovalsPatch({ metadata: { name: "m" } }, 1)).toEqual({
      metadata: { annotations: { [annotationKeys.usedApprovals]: "generation=0,count=1" } },
    });
  });
});
