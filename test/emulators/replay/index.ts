export { renderReplay, replayFile } from "./replay-file.ts";
export type { ReplayReport } from "./replay-file.ts";
