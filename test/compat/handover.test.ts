import { describeHandOver } from "./describe-handover.ts";

// The harder way of the switch to Millwright, with the clusters of Gardener; go-mcm.test.ts has one cluster. `npm run test:handover` runs both directions and signals, with more machines.
describeHandOver({ from: "Go", to: "Millwright", signal: "SIGKILL", hasOwnTarget: true }, 8);
