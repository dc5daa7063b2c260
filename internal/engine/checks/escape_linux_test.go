package checks

const escapeProof = true
