import { describe, expect, it } from "vitest";
import { csiHandleOf } from "./csi-handle.ts";

const driver = "ebs.csi.aws.com";

describe("the handle of a CSI volume", () => {
  it("is that which the driver gave", () => {
    expect(csiHandleOf({ csi: { driver, volumeHandle: "vol-1" } }, driver)).toBe("vol-1");
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ["another driver", { csi: { driver: "pd.csi.storage.gke.io", volumeHandle: "vol-1" } }],
    ["no CSI driver", { hostPath: { path: "/" } }],
    ["nothing", { csi: null }],
    ["a driver that gave no handle", { csi: { driver } }],
    ["a driver that gave an empty handle", { csi: { driver, volumeHandle: "" } }],
    ["a driver that gave no text", { csi: { driver, volumeHandle: 7 } }],
  ])("is none for a volume of %s", (_, volume) => {
    expect(csiHandleOf(volume, driver)).toBeUndefined();
  });
});
