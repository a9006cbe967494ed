import { startArmLoop } from "./arm-cloud.ts";
import { describeNodes } from "./node-scenario.ts";

describeNodes("Azure", startArmLoop);
