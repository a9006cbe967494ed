import { getHeapStatistics } from "node:v8";
import { defineDriver, MachineError } from "@millwright/core";

/** What the driver holds on to and never frees. */
const leaked: object[] = [];

function blockFor(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

/** Fast at first, then slowly. */
function leakMore(): void {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  const count = used < 0.65 * limit ? 50_000 : 500;
  for (let index = 0; index < count; index++) leaked.push({ index, text: [index] });
}

/** A driver that blocks the event loop, never ends its calls, or leaks memory: `blockMs`, `hangs` and `leaks` of the provider spec. */
export default defineDriver<Readonly<Record<string, unknown>>>({
  name: "stuck",
  // The schema of a test takes what the test writes.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  spec: {
    "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Record<string, unknown> }) },
  },
  async createMachine({ machineClass: { spec } }, { signal }) {
    const { blockMs, hangs, leaks } = spec;
    if (leaks === true) setInterval(leakMore, 100);
    if (hangs === true || leaks === true) {
      signal.addEventListener("abort", () => undefined);
      return new Promise(() => undefined);
    }
    blockFor(Number(blockMs));
    throw new MachineError("InvalidArgument", "blocked");
  },
  async getMachineStatus() {
    throw new MachineError("NotFound", "no VM");
  },
  async deleteMachine() {
    return {};
  },
});
