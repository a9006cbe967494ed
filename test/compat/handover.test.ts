import { describeHandOver } from "./describe-handover.ts";

// The harder way of the switch to Millwright; `npm run test:handover` runs both signals and both directions, with more machines.
describeHandOver("Go", "Millwright", "SIGKILL", 8);
