import { startArmLoop } from "./arm-cloud.ts";
import { describeFleet } from "./fleet-scenario.ts";

describeFleet("Azure", startArmLoop);
