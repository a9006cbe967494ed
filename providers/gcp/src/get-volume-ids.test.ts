import { describe, expect, it } from "vitest";
import { createGcpDriver } from "./driver.ts";
import { aContext } from "./testing/gcp-cloud.ts";

describe("ids of volumes", () => {
  it("are those of persistent disks; other volumes have none", async () => {
    const handle = "projects/p/zones/z/disks/pvc-1";
    const { volumeIds } = await createGcpDriver().getVolumeIds(
      {
        volumes: [
          { gcePersistentDisk: { pdName: "in-tree" } },
          { csi: { driver: "pd.csi.storage.gke.io", volumeHandle: handle } },
          { csi: { driver: "pd.csi.storage.gke.io", volumeHandle: "" } },
          { csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-1" } },
          { gcePersistentDisk: null, csi: null },
          { hostPath: { path: "/" } },
          {},
        ],
      },
      aContext(),
    );
    expect(volumeIds).toEqual(["in-tree", handle, undefined, undefined, undefined, undefined, undefined]);
  });
});
