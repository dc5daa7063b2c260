package hq

const noFollow = 0
