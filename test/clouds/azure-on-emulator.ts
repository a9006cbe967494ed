import { createAzureDriver } from "@millwright/provider-azure";

const { ARM_EMULATOR_URL: endpoint = "", ARM_EMULATOR_CA: ca = "" } = process.env;

/** The driver of Azure against an emulator, whose address and certificate are in environment variables that Azure's SDKs do not read. */
export default createAzureDriver({ endpoint, ca, pollMs: 50 });
