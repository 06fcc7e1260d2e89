"""Where records lie: stores of streams behind `callsheet.graph.ports.Ledger`, their blobs, their sealing and signing.

What every store does alike is written once (`prepare`, `vault`); `memory` and `sqlite` differ only in the medium.
"""
