package tokens

const noFollow = 0
