import { describeHandOver } from "./describe-handover.ts";

for (const [signal, hasOwnTarget] of [
  ["SIGTERM", false],
  ["SIGKILL", false],
  ["SIGKILL", true],
] as const) {
  describeHandOver({ from: "Go", to: "Millwright", signal, hasOwnTarget }, 50);
  describeHandOver({ from: "Millwright", to: "Go", signal, hasOwnTarget }, 50);
}
