import { describeHandOver } from "./describe-handover.ts";

// The harder way of the switch and of the way back, with the clusters of Gardener; go-mcm.test.ts has one cluster. `npm run test:handover` runs both signals, with more machines.
describeHandOver({ from: "Go", to: "Millwright", signal: "SIGKILL", hasOwnTarget: true }, 8);
describeHandOver({ from: "Millwright", to: "Go", signal: "SIGKILL", hasOwnTarget: true }, 8);
