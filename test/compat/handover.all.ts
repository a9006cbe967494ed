import { describeHandOver } from "./describe-handover.ts";

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  describeHandOver("Go", "Millwright", signal, 50);
  describeHandOver("Millwright", "Go", signal, 50);
}
