import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deletionStages, markerOf, stageOf } from "./deletion-stages.ts";
import { continueWith, deletionEvents } from "./operation-texts.ts";

describe("stageOf", () => {
  it.each([
    ["Set machine status to termination. Now, getting VM Status", "GetVmStatus"],
    ["VM was not found at provider. Moving forward to node drain. Initiate node drain", "Drain"],
    ["Force Drain successful. Delete Volume Attachments", "DeleteVolumeAttachments"],
    ["Drain successful. Initiate VM deletion", "DeleteVm"],
    ["VM deletion was successful. Initiate node object deletion", "DeleteNode"],
    ["VM deletion was successful. Remove node finalizers", "DeleteNode"],
    ['Deletion of Node Object "n" is successful. Initiate machine object finalizer removal', "RemoveFinalizer"],
    ["Drain successful. Initiate VM deletion. ", "DeleteVm"],
  ])("continues a deletion that MCM left with %j", (description, stage) => {
    expect(stageOf(description)).toBe(stage);
  });

  it("looks at the end only, whatever an error message quotes before", () => {
    const description =
      "VM deletion failed due to - api error: Initiate node object deletion. Aborting operation. Initiate VM deletion";
    expect(stageOf(description)).toBe("DeleteVm");
  });

  it("finds nothing in a text that merely mentions a marker, nor in none", () => {
    expect(stageOf("Initiate VM deletion was requested")).toBeUndefined();
    expect(stageOf("Creating machine on cloud provider")).toBeUndefined();
    expect(stageOf("")).toBeUndefined();
    expect(stageOf(undefined)).toBeUndefined();
  });

  it("has no marker that is the end of another one", () => {
    for (const { name, marker } of deletionStages) {
      expect(deletionStages.filter((other) => marker.endsWith(other.marker)).map((other) => other.name)).toEqual([
        name,
      ]);
      expect(markerOf(name)).toBe(marker);
    }
  });
});

describe("continueWith", () => {
  it("writes MCM's texts", () => {
    expect(continueWith("GetVmStatus")).toBe("Set machine status to termination. Now, getting VM Status");
    expect(continueWith("DeleteVm", deletionEvents.drained())).toBe("Drain successful. Initiate VM deletion");
    expect(continueWith("DeleteVm", deletionEvents.vmDeletionRetried("<err>"))).toBe(
      "VM deletion failed due to - <err>. However, will re-try in the next resync. Initiate VM deletion",
    );
  });

  it("is read back as the stage, whatever happened before", () => {
    const stage = fc.constantFrom(...deletionStages.map(({ name }) => name));
    const happened = fc.oneof(fc.string(), stage.map(markerOf));
    fc.assert(
      fc.property(stage, happened, (next, text) => {
        expect(stageOf(continueWith(next, text))).toBe(next);
      }),
    );
  });
});
