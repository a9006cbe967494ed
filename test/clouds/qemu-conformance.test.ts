import { defineConformance } from "@millwright/conformance";
import { afterAll, describe, it } from "vitest";
import qemuFixture from "./qemu/qemu-fixture.ts";
import { hasQemu } from "./qemu/virtual-machine.ts";

// Each VM is a process that boots a kernel in software: a busy computer needs longer than the two seconds of the rule.
describe.skipIf(!hasQemu)("QEMU (where test/clouds/install-qemu was possible)", () => {
  defineConformance({ fixture: qemuFixture, level: "gold", graceMs: 20_000, describe, it, afterAll });
});
