export * from "./client.cjs";
export * from "./protocol.cjs";
