import { expect, it, afterEach, beforeEach } from "vitest";
import { type Installation, startInstallation } from "../harness/installation.ts";
import { collectLeaks } from "../harness/leak-scenario.ts";

let installation: Installation;
beforeEach(async () => {
  installation = await startInstallation();
});
afterEach(() => installation.close());

it(
  "collects VMs without machine, and no other VM, although processes are killed in a list and between quarantine and deletion",
  { timeout: 1_500_000 },
  async () => {
    const { collected, vms, named } = await collectLeaks(installation);
    expect(collected).toHaveLength(5);
    expect(vms).toHaveLength(1);
    expect(vms).toEqual(named);
  },
);
